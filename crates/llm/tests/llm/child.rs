//! Runs in a process of its own: one that can be killed, and one that knows keys.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pericope_llm::{Cache, Client, LlmConfig, ProviderKind, Shared, map_concurrent, providers};
use pericope_testkit::llm::{Act, Seen, Server};

use crate::support::{Bench, always, answer, config, item, judges, plain, shared};

const BASE: &str = "PERICOPE_TEST_BASE";
const CACHE: &str = "PERICOPE_TEST_CACHE";
const KEY: &str = "PERICOPE_TEST_KEY";
const EXTRA: &str = "PERICOPE_TEST_EXTRA";

/// This test binary again, running one of the functions below.
fn again(function: &str, server: &Server, cache: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("child::{function}"), "--ignored", "--nocapture"]);
    command.env(BASE, server.base_url()).env(CACHE, cache).stdin(Stdio::null());
    command
}

/// Items of [`shows_everything_it_can`].
const ITEMS: usize = 14;

fn variable(name: &str) -> String {
    std::env::var(name).expect("this is no test: another one starts it")
}

fn items() -> Vec<usize> {
    (0..60).collect()
}

#[test]
#[ignore = "started by another test"]
fn works_until_killed() {
    let mut settings = config(&variable(BASE));
    settings.concurrency = 4;
    let bench = Bench::new(&settings, &shared(Cache::open(Path::new(&variable(CACHE))).unwrap()));
    map_concurrent(4, &items(), |_, item| bench.item(*item, &["a", "b"]));
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a_killed_run_is_taken_up_again_without_a_call_repeated() {
    let server = Server::start(answer, |_| Act::Slow(Duration::from_millis(20))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite");
    let mut command = again("works_until_killed", &server, &path);
    let child = Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.calls() < 50 {
        assert!(Instant::now() < deadline, "only {} calls", server.calls());
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(child);
    let before = server.calls();
    let cache = Cache::open(&path).unwrap();
    let kept = usize::try_from(cache.len().unwrap()).unwrap();
    // All that had been answered but what was under way.
    assert!(kept + 4 >= before && kept < 120, "{kept} kept of {before}");
    let bench = Bench::new(&config(&server.base_url()), &shared(cache));
    let done = map_concurrent(4, &items(), |_, item| bench.item(*item, &["a", "b"]));
    assert!(done.results.iter().all(|result| matches!(result, Some(Ok(_)))));
    // Two calls an item, and of those exactly the ones that are not known.
    assert_eq!(server.calls() - before, 120 - kept);
}

#[test]
#[ignore = "started by another test"]
fn shows_everything_it_can() {
    for provider in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let mut settings = config(&variable(BASE));
        settings.provider = provider;
        settings.api_key_env = Some(KEY.into());
        settings.headers.insert("x-extra".into(), format!("Token ${{{EXTRA}}}"));
        settings.retries = 1;
        let shared = shared(Cache::open(Path::new(&variable(CACHE))).unwrap());
        println!("{settings:?} {}", toml::to_string(&settings).unwrap());
        println!("{}", providers::build(&settings, false).unwrap().identity());
        let bench = Bench::new(&settings, &shared);
        for item in 0..ITEMS {
            let question = format!("What is item-{item}?");
            let answer = bench.generator.answer(&question, &["a"]);
            let judgement = bench.judge.judge(&question, "gold", "answer");
            println!("{answer:?} {judgement:?}");
            for error in answer.err().into_iter().chain(judgement.err()) {
                println!("{error} {:?}", std::error::Error::source(&error));
            }
        }
        println!("{:?} {:?}", bench.generator.client().total(), bench.generator.client().provider().notes());
        let answered = Client::from_config(&settings, &shared).unwrap().complete(&plain("item-0")).unwrap();
        println!("{answered:?}");
        // A header that no server may see, and a base URL that holds a password.
        settings.headers.insert("x-bad".into(), format!("${{{EXTRA}}}\n"));
        println!("{:?}", providers::build(&settings, false).err());
        settings.base_url = Some("http://user:sk-in-the-url@127.0.0.1/v1".into());
        println!("{:?}", providers::build(&settings, false).err());
        println!("shown");
    }
    let text = "provider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-in-the-file\"";
    println!("{}", toml::from_str::<LlmConfig>(text).unwrap_err().message());
}

#[test]
fn keys_are_in_requests_and_nowhere_else() {
    let secrets = ["sk-live/0123456789+AbCdEf", "extra-9876543210", "sk-in-the-url", "sk-in-the-file"];
    // Servers that repeat the key wherever they can, in whatever way they write it.
    let key = |seen: &Seen| {
        let own =
            seen.headers.get("x-api-key").or_else(|| seen.headers.get("authorization")).cloned().unwrap_or_default();
        own.trim_start_matches("Bearer ").to_owned()
    };
    let each = |text: &str, of: &dyn Fn(u8) -> String| text.bytes().map(of).collect::<String>();
    let error =
        |status: u16, message: &str| Act::Raw(status, format!("{{\"error\": {{\"message\": \"bad {message}\"}}}}"));
    let echo = move |seen: &Seen| match (item(seen), judges(seen)) {
        (6, false) => error(400, &key(seen).replace('/', "\\/")),
        (7, false) => error(400, &each(&key(seen), &|b| format!("\\u{b:04x}"))),
        (8, false) => error(400, &STANDARD.encode(format!("Bearer {}", key(seen)))),
        (9, false) => error(400, &each(&key(seen), &|b| format!("%{b:02X}"))),
        (10, false) => error(400, &key(seen).to_uppercase()),
        (11, false) => Act::Raw(400, format!("<html>bad <b>{}</b></html>", key(seen).replace('/', "&#x2F;"))),
        (12, false) => Act::Raw(200, format!("no JSON, but {}", key(seen))),
        (13, false) => {
            let key = key(seen).replace('/', "\\/");
            let (half, rest) = key.split_at(key.len() / 2);
            let code = format!(
                "{{\"error\": {{\"message\": \"bad {half}\\n{rest}\", \"code\": \"{key}\", \"param\": \"{key}\"}}}}"
            );
            Act::Raw(400, code)
        }
        (0, false) => Act::Text(format!("answer to item-0 {:?}", seen.headers)),
        (1, false) => Act::EchoKey(400),
        (2, false) => Act::EchoKey(500),
        (3, true) => Act::EchoKey(429),
        (4, true) => Act::Text(format!("{{\"score\": {:?}}}", seen.headers)),
        (5, true) => Act::EchoKey(401),
        _ => Act::Answer,
    };
    let server = Server::start(answer, echo).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite");
    let mut command = again("shows_everything_it_can", &server, &path);
    command.env(KEY, secrets[0]).env(EXTRA, secrets[1]);
    let Output { stdout, stderr, .. } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    // The keys did arrive, and it did show things.
    assert!(server.log().iter().any(|seen| seen.headers.get("authorization").is_some_and(|v| v.contains(secrets[0]))));
    assert!(server.log().iter().any(|seen| seen.headers.get("x-api-key").is_some_and(|v| v == secrets[0])));
    assert!(server.log().iter().all(|seen| seen.headers["x-extra"].contains(secrets[1])));
    assert!(stdout.contains("[hidden]") && stdout.contains("Rejected"), "{stdout}\n{stderr}");
    assert_eq!(stdout.matches("shown\n").count(), 2, "{stdout}\n{stderr}");
    assert!(stdout.matches("bad [hidden]").count() >= 2 * 6, "{stdout}");
    let mut files = 0;
    // In capitals, without the escapes, and in parts, too.
    let disguises: [&dyn Fn(&str) -> String; 4] =
        [&str::to_owned, &str::to_uppercase, &|key| key.chars().skip(6).take(14).collect(), &|key| {
            STANDARD.encode(format!("Bearer {key}")).chars().skip(12).take(16).collect()
        }];
    for secret in secrets {
        for disguise in disguises {
            let secret = disguise(secret);
            let readable = stdout.replace("\\\\", "\\").replace("\\/", "/");
            assert!(!stdout.contains(&secret) && !readable.contains(&secret), "{secret} in {stdout}");
            assert!(!stderr.contains(&secret), "{secret} in {stderr}");
        }
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            files += 1;
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret} in the cache");
        }
    }
    assert!(files >= secrets.len());
}

#[test]
fn a_key_that_is_not_set_is_named() {
    let server = Server::start(answer, always(Act::Answer)).unwrap();
    let mut settings = config(&server.base_url());
    settings.api_key_env = Some("PERICOPE_TEST_NO_SUCH_KEY".into());
    let error = Client::from_config(&settings, &Shared::in_memory().unwrap()).err().unwrap();
    assert!(error.to_string().contains("PERICOPE_TEST_NO_SUCH_KEY") && error.aborts_run());
    // Offline, none is needed.
    let offline = Shared { offline: true, ..Shared::in_memory().unwrap() };
    assert!(Client::from_config(&settings, &offline).is_ok());
    assert_eq!(server.calls(), 0);
}
