//! Whatever wants to see the items of a run, seeing each of them once.

use crate::record::Item;

/// Takes every item of a run once, in the order of `items.jsonl`; items of an earlier session of a resumed run come too.
pub trait ItemSink {
    /// Takes an item, whose line begins at byte `offset` of `items.jsonl`.
    fn take(&mut self, item: &Item, offset: u64);
}

/// Looks at nothing.
impl ItemSink for () {
    fn take(&mut self, _: &Item, _: u64) {}
}

impl<S: ItemSink + ?Sized> ItemSink for &mut S {
    fn take(&mut self, item: &Item, offset: u64) {
        (**self).take(item, offset);
    }
}

impl<S: ItemSink + ?Sized> ItemSink for Box<S> {
    fn take(&mut self, item: &Item, offset: u64) {
        (**self).take(item, offset);
    }
}

/// Both, one after the other.
impl<A: ItemSink, B: ItemSink> ItemSink for (A, B) {
    fn take(&mut self, item: &Item, offset: u64) {
        self.0.take(item, offset);
        self.1.take(item, offset);
    }
}
