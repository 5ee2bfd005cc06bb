//! The functions that JavaScript calls. Requests and answers are JSON in UTF-8.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exchange::Exchange;

static EXCHANGE: Mutex<Exchange> = Mutex::new(Exchange::new());

fn exchange() -> MutexGuard<'static, Exchange> {
    EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a request of so many bytes, and returns where it is to be written.
#[unsafe(no_mangle)]
pub extern "C" fn pericope_room(bytes: usize) -> *mut u8 {
    exchange().room(bytes).as_mut_ptr()
}

/// Cuts the text of the request. Returns how many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn pericope_cut() -> usize {
    let mut exchange = exchange();
    exchange.cut();
    exchange.answer().len()
}

/// Answers with the formats and segmenters that can be chosen. Returns how many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn pericope_offer() -> usize {
    let mut exchange = exchange();
    exchange.offer();
    exchange.answer().len()
}

/// Returns where the last answer is; it is there until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn pericope_answer() -> *const u8 {
    exchange().answer().as_ptr()
}
