//! Drives Chromium over the pipes of its developer tools: JSON messages, each ended by a zero byte. Knows the
//! few methods that looking at a page takes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Time for any one answer: a first start on a busy machine takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time without news after which a page has settled.
const SETTLED: Duration = Duration::from_millis(300);

/// What a visit to a page showed.
#[derive(Debug, Default)]
pub(crate) struct Visit {
    /// Console messages, log entries and uncaught errors.
    pub(crate) complaints: Vec<String>,
    /// Whatever was asked for beside the page itself; data within the page is no request.
    pub(crate) requests: Vec<String>,
}

/// A running browser with one tab.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    asked: u64,
    /// Events that came while an answer was waited for.
    events: Vec<Value>,
}

impl Browser {
    /// Starts a browser whose profile lies in that folder.
    pub(crate) fn start(program: &Path, profile: &Path) -> Self {
        // Its pipes are descriptors 3 and 4, which the shell makes from ours.
        let script = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"#;
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(program)
            .args(["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"])
            .args(["--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("a pipe");
        let mut pipe = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, from) = channel();
        thread::spawn(move || {
            let mut message = Vec::new();
            while pipe.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Self { child, to, from, session: String::new(), asked: 0, events: Vec::new() };
        let target = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let id = target["targetId"].clone();
        let attached = browser.ask("Target.attachToTarget", json!({ "targetId": id, "flatten": true }));
        browser.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a file on a screen of that size.
    pub(crate) fn visit(&mut self, page: &Path, (width, height): (u32, u32), dark: bool) -> Visit {
        let screen =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.ask("Emulation.setDeviceMetricsOverride", screen);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "media": "screen", "features": features }));
        self.events.clear();
        let address = format!("file://{}", page.display());
        let answer = self.ask("Page.navigate", json!({ "url": address }));
        assert!(answer.get("errorText").is_none(), "{address}: {answer}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next(PATIENCE).expect("a page that loads");
            self.events.push(event);
        }
        while let Some(event) = self.next(SETTLED) {
            self.events.push(event);
        }
        summarized(&self.events, &address)
    }

    /// The value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.ask("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Lays the page out as for paper.
    pub(crate) fn emulate_print(&mut self) {
        self.ask("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    }

    /// The whole page as a PNG file.
    pub(crate) fn screenshot(&mut self) -> Vec<u8> {
        let answer =
            self.ask("Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": true }));
        base64(answer["data"].as_str().expect("a picture"))
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser lives");
        loop {
            let answer = self.next(PATIENCE).unwrap_or_else(|| panic!("{method}: no answer"));
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn next(&self, patience: Duration) -> Option<Value> {
        match self.from.recv_timeout(patience) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the browser ended"),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A test that failed already must not fail again here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn summarized(events: &[Value], address: &str) -> Visit {
    let mut visit = Visit::default();
    for event in events {
        let parameters = &event["params"];
        match event["method"].as_str().unwrap_or("") {
            "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => {
                visit.complaints.push(parameters.to_string());
            }
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap_or("");
                if url != address && !url.starts_with("data:") {
                    visit.requests.push(url.to_owned());
                }
            }
            _ => {}
        }
    }
    visit
}

/// Bytes of a text in base 64.
fn base64(text: &str) -> Vec<u8> {
    let digit = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|letter| *letter != b'=').collect();
    let mut bytes = Vec::with_capacity(letters.len() * 3 / 4);
    for group in letters.chunks(4) {
        let bits = group.iter().fold(0_u32, |bits, letter| bits << 6 | u32::from(digit(*letter)));
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}
