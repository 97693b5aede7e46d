//! Bundles of findings, written at once and again as more is known: a queue and a few threads that build and run each
//! program beside the hunt. Knows order and threads; what a bundle holds is decided elsewhere.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use exec::Interrupt;
use hunt::Finding;

use crate::bundle::{Bundler, Tried};

/// How often it is told how many programs were tried.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// A bundle as it stands.
struct Standing {
    finding: Finding,
    /// What came of its program, once that was tried.
    tried: Option<Tried>,
}

/// What the threads share.
struct Shop {
    bundler: Arc<Bundler>,
    bundles: Mutex<HashMap<PathBuf, Standing>>,
    /// Programs that were put in the queue, and those that left it.
    submitted: AtomicUsize,
    settled: AtomicUsize,
    interrupt: Interrupt,
}

/// The threads and their queue. Building and running a program takes seconds, which slots have a better use for.
pub(crate) struct Tryout {
    shop: Arc<Shop>,
    queue: Mutex<Option<Sender<PathBuf>>>,
    threads: Mutex<Vec<JoinHandle<io::Result<()>>>>,
}

impl Tryout {
    /// Starts the threads. Once the interrupt is set, programs that still wait are left untried: a resumed hunt takes
    /// them up.
    pub(crate) fn start(bundler: &Arc<Bundler>, threads: usize, interrupt: &Interrupt) -> Self {
        let (sender, receiver) = mpsc::channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let (bundler, interrupt) = (Arc::clone(bundler), interrupt.clone());
        let (submitted, settled) = (AtomicUsize::default(), AtomicUsize::default());
        let shop = Arc::new(Shop { bundler, bundles: Mutex::default(), submitted, settled, interrupt });
        let threads = (0..threads.max(1)).map(|_| {
            let (shop, receiver) = (Arc::clone(&shop), Arc::clone(&receiver));
            thread::spawn(move || shop.work(&receiver))
        });
        Self { threads: Mutex::new(threads.collect()), queue: Mutex::new(Some(sender)), shop }
    }

    /// Writes the bundle of a finding, or writes it anew with what is known now. The first time its program is put in
    /// the queue.
    ///
    /// # Errors
    /// Trouble in writing it.
    pub(crate) fn put(&self, folder: &Path, finding: &Finding) -> io::Result<()> {
        let mut bundles = self.shop.bundles();
        let earlier = bundles.remove(folder);
        let new = earlier.is_none();
        let tried = earlier.and_then(|standing| standing.tried);
        self.shop.bundler.write(folder, finding, tried.as_ref())?;
        bundles.insert(folder.to_owned(), Standing { finding: finding.clone(), tried });
        drop(bundles);
        if new {
            self.submit(folder);
        }
        Ok(())
    }

    /// Takes in a bundle that an earlier run wrote and whose program nobody tried.
    pub(crate) fn take_up(&self, folder: &Path, finding: &Finding) {
        let standing = Standing { finding: finding.clone(), tried: None };
        self.shop.bundles().insert(folder.to_owned(), standing);
        self.submit(folder);
    }

    fn submit(&self, folder: &Path) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = queue.as_ref() {
            // Without a thread left to take it the program stays untried; `finish` tells what ended them.
            let _ = sender.send(folder.to_owned());
            self.shop.submitted.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until the queue is empty, and tells meanwhile how many programs were tried since it began to wait, of how
    /// many.
    ///
    /// # Errors
    /// The first trouble in writing a bundle.
    pub(crate) fn finish(&self, tell: &dyn Fn(usize, usize)) -> io::Result<()> {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let settled = || self.shop.settled.load(Ordering::Relaxed);
        let before = settled();
        let left = self.shop.submitted.load(Ordering::Relaxed).saturating_sub(before);
        while left > 0 && !self.shop.interrupt.is_set() && !threads.iter().all(JoinHandle::is_finished) {
            tell(settled().saturating_sub(before).min(left), left);
            thread::sleep(TELL_EVERY);
        }
        let ends: Vec<io::Result<()>> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)))
            .collect();
        ends.into_iter().collect()
    }
}

impl Shop {
    /// Bundles are written with this lock held, so that two threads never write the same one.
    fn bundles(&self) -> MutexGuard<'_, HashMap<PathBuf, Standing>> {
        self.bundles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, receiver: &Mutex<Receiver<PathBuf>>) -> io::Result<()> {
        loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(folder) = next else { return Ok(()) };
            let finding = self.bundles().get(&folder).map(|standing| standing.finding.clone());
            if let (Some(finding), false) = (finding, self.interrupt.is_set()) {
                let tried = self.bundler.try_out(&finding)?;
                if let Some(standing) = self.bundles().get_mut(&folder) {
                    self.bundler.write(&folder, &standing.finding, Some(&tried))?;
                    standing.tried = Some(tried);
                }
            }
            self.settled.fetch_add(1, Ordering::Relaxed);
        }
    }
}
