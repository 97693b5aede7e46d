//! One worker process: started, spoken with, ended, reaped. Knows frames and signals; knows nothing of the
//! jobs' meaning.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use case::frame::{Decoder, encode};
use case::{Announcement, Exit, Reply, Request};

use crate::board::Board;
use crate::deadline::{Deadlines, Errand, Limit, PhaseTimes, Watch};
use crate::error::HarnessError;
use crate::interrupt::Interrupt;
use crate::slot::SpawnOptions;
use crate::tail::{Host, Tail};
use crate::variables::cleaned_environment;

/// Time in which an idle worker ends by itself after `Quit`.
const QUIT_TIME: Duration = Duration::from_millis(250);

/// Time in which a process is gone after it closed its socket or was killed. A driver may need seconds to
/// take its context down.
const REAP_TIME: Duration = Duration::from_secs(30);

/// Longest time for the socket to take a request.
const SEND_TIME: Duration = Duration::from_secs(10);

/// What every wait for a worker looks at.
#[derive(Clone, Debug)]
pub(crate) struct Supervision {
    pub(crate) deadlines: Deadlines,
    pub(crate) times: Arc<PhaseTimes>,
    pub(crate) interrupt: Interrupt,
    /// When the present job has to have an end, whatever its phases may still take.
    pub(crate) until: Option<Instant>,
}

/// A started worker. Dropping it kills and reaps the process.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    socket: UnixStream,
    decoder: Decoder,
    board: Board,
    printed: Tail,
    host: Host,
    /// Set when a deadline passed: the process was killed and only its last frames are still read.
    condemned: Option<Condemned>,
}

/// Why and where a worker was killed.
#[derive(Clone, Copy, Debug)]
struct Condemned {
    limit: Limit,
    announcement: Option<Announcement>,
    since: Instant,
}

/// How a worker's process ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) exit: Exit,
    /// The last thing that it announced.
    pub(crate) announcement: Option<Announcement>,
    /// The end of what it printed.
    pub(crate) printed: String,
}

/// What a wait brought.
#[derive(Debug)]
pub(crate) enum Heard {
    Reply(Box<Reply>),
    Ended(End),
}

impl Worker {
    /// Starts a process; it has said nothing yet.
    pub(crate) fn spawn(options: &SpawnOptions) -> Result<Self, HarnessError> {
        let broken = |what| move |source| HarnessError::Io { what, source };
        let board = Board::create().map_err(broken("cannot create a worker's board"))?;
        let printed = Tail::create().map_err(broken("cannot create a file for a worker's output"))?;
        let (socket, theirs) = UnixStream::pair().map_err(broken("cannot create a worker's socket"))?;
        socket
            .set_read_timeout(Some(options.deadlines.poll))
            .and_then(|()| socket.set_write_timeout(Some(SEND_TIME)))
            .map_err(broken("cannot limit waiting on a worker's socket"))?;
        let handles = printed.handle().and_then(|out| Ok((out, printed.handle()?)));
        let (stdout, stderr) = handles.map_err(broken("cannot share a worker's output file"))?;

        let mut worker = options.worker.clone();
        worker.board = board.path();
        let worker = serde_json::to_string(&worker).map_err(|error| HarnessError::Broken {
            message: format!("cannot pass a worker its options: {error}"),
        })?;
        let inherited: Vec<_> = std::env::vars_os().collect();
        let child = Command::new(&options.program)
            .args(&options.arguments)
            .args(["--options", &worker])
            .env_clear()
            .envs(cleaned_environment(&inherited, options))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .map_err(|source| HarnessError::Spawn { program: options.program.clone(), source })?;
        let (decoder, host) = (Decoder::default(), Host::current());
        Ok(Self { child, socket, decoder, board, printed, host, condemned: None })
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Removes the board's name; called once the worker is ready and so has opened it.
    pub(crate) fn hide_board(&mut self) {
        self.board.hide();
    }

    /// True where the process ended by itself, seen without waiting.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a request. A worker that is dead already is no error here: the next wait tells how it ended.
    pub(crate) fn send(&mut self, request: &Request) -> Result<(), HarnessError> {
        // Output printed from here on belongs to this request.
        self.printed.clear().map_err(|source| HarnessError::Io { what: "cannot empty a file", source })?;
        let bytes = encode(request).map_err(|error| HarnessError::Frame(error.to_string()))?;
        match self.socket.write_all(&bytes) {
            Ok(()) => Ok(()),
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                Ok(())
            }
            Err(source) => Err(HarnessError::Io { what: "cannot write to a worker", source }),
        }
    }

    /// Waits for the next message or the end, and kills the worker where a deadline passes.
    pub(crate) fn hear(&mut self, errand: Errand, by: &Supervision) -> Result<Heard, HarnessError> {
        let mut buffer = [0_u8; 16 << 10];
        let mut watch = Watch::new(errand, Instant::now());
        loop {
            let reply = self.decoder.next().map_err(|error| HarnessError::Frame(error.to_string()))?;
            if let Some(reply) = reply {
                return Ok(Heard::Reply(Box::new(reply)));
            }
            if by.interrupt.is_set() {
                return Err(HarnessError::Interrupted);
            }
            if by.until.is_some_and(|until| Instant::now() >= until) {
                return Err(HarnessError::OutOfTime);
            }
            match self.socket.read(&mut buffer) {
                Ok(0) => return self.end().map(Heard::Ended),
                Ok(count) => {
                    self.decoder.push(&buffer[..count]);
                    watch.heard(Instant::now());
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    self.inspect(&mut watch, by)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A peer that died with a request unread resets the socket once its own frames are read.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return self.end().map(Heard::Ended);
                }
                Err(source) => return Err(HarnessError::Io { what: "cannot read from a worker", source }),
            }
        }
    }

    /// Looks at a silent worker's board and ends it where its phase takes too long. Frames that it sent
    /// before are still read afterwards, up to the end of the stream.
    fn inspect(&mut self, watch: &mut Watch, by: &Supervision) -> Result<(), HarnessError> {
        let now = Instant::now();
        self.printed.bound().map_err(|source| HarnessError::Io { what: "cannot empty a file", source })?;
        if let Some(condemned) = &self.condemned {
            if now.saturating_duration_since(condemned.since) > REAP_TIME {
                return Err(self.undying());
            }
            return Ok(());
        }
        let announcement = self.board.read();
        watch.look(announcement, now);
        if let Some(limit) = watch.overdue(&by.deadlines, &by.times, now) {
            self.condemned = Some(Condemned { limit, announcement, since: now });
            self.kill();
        }
        Ok(())
    }

    /// Reaps a process whose stream has ended and tells how it went.
    fn end(&mut self) -> Result<End, HarnessError> {
        let status = match self.reap(REAP_TIME) {
            Some(status) => status,
            None => {
                // It closed its socket and lives on.
                self.kill();
                self.reap(REAP_TIME).ok_or_else(|| self.undying())?
            }
        };
        let (exit, announcement) = match self.condemned {
            Some(condemned) => (timed_out(condemned.limit), condemned.announcement),
            None => (exit_of(status), self.board.read()),
        };
        Ok(End { exit, announcement, printed: self.printed.text(&self.host) })
    }

    /// Asks an idle worker to end and gives it a moment to do so.
    pub(crate) fn quit(mut self) {
        let asked =
            self.send(&Request::Quit).is_ok() && self.socket.set_read_timeout(Some(QUIT_TIME)).is_ok();
        // Its stream ends when the process does; whatever else arrives no longer matters.
        if asked && matches!(self.socket.read(&mut [0_u8; 1]), Ok(0)) {
            self.reap(QUIT_TIME);
        }
    }

    fn kill(&mut self) {
        // The only failure is a process that has been reaped, which is what is wanted.
        let _gone = self.child.kill();
    }

    /// The exit status within that time.
    fn reap(&mut self, patience: Duration) -> Option<ExitStatus> {
        await_exit(&mut self.child, patience).ok().flatten()
    }

    fn undying(&self) -> HarnessError {
        HarnessError::Broken { message: format!("worker process {} cannot be ended", self.pid()) }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.kill();
            self.reap(REAP_TIME);
        }
    }
}

/// Waits for a child's end; `None` once the time is over.
pub(crate) fn await_exit(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    // Most ends are a moment away when they are waited for, hence short naps first.
    let mut nap = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= patience {
            return Ok(None);
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(20));
    }
}

/// How a process ended by itself.
pub(crate) fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Exited(code),
        (None, Some(signal)) => Exit::Signalled(signal),
        // Waiting without WUNTRACED reports ended processes only, and those have one of the two.
        (None, None) => Exit::Exited(status.into_raw()),
    }
}

/// The end of a process that was killed for exceeding a limit.
pub(crate) fn timed_out(limit: Limit) -> Exit {
    let limit_ms = u64::try_from(limit.time.as_millis()).unwrap_or(u64::MAX);
    if limit.proves_hang { Exit::TimedOut(limit_ms) } else { Exit::TooSlow(limit_ms) }
}
