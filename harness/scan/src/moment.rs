//! When a line was written and by whom: epoch and step, time, rank. Knows how training programs and launchers write
//! them; knows no symptom.

use std::collections::HashMap;
use std::ops::Range;

use regex::bytes::{Captures, Regex};
use serde::Serialize;

use crate::guide::compiled;
use crate::lines::{Line, backwards, forwards};

/// Bytes of a line that are searched.
const SEARCHED: usize = 2 << 10;

/// Most ranks that are told apart.
const RANKS_MAX: usize = 4096;

/// Most lines that are gone back for a time.
const TIMES_MAX: usize = 200;

/// How far training had come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Moment {
    /// The epoch, as the log counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// The step, iteration or batch, as the log counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
}

impl Moment {
    /// True for what no training comes before: the first epoch's first step.
    pub(crate) fn is_start(self) -> bool {
        self.epoch.unwrap_or(0) <= 1 && self.step.unwrap_or(0) <= 1
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.epoch, self.step) {
            (Some(epoch), Some(step)) => write!(formatter, "epoch {epoch}, step {step}"),
            (Some(epoch), None) => write!(formatter, "epoch {epoch}"),
            (None, Some(step)) => write!(formatter, "step {step}"),
            (None, None) => Ok(()),
        }
    }
}

/// The expressions.
pub(crate) struct Reader {
    both: Regex,
    epoch: Regex,
    step: Regex,
    rank: Regex,
    time: Regex,
}

impl Reader {
    pub(crate) fn new() -> Self {
        let expression = |text| compiled(text).expect("a constant expression that every test compiles");
        Self {
            // `Epoch: [3][ 120/5005]`, `Epoch(train) [1][50/7330]`, `Epoch 3:  45%|###  | 120/1000 [00:12<`.
            both: expression(
                r"(?i)epoch(?:\(\w+\))?:? ?\[?(\d{1,9})(?:/\d+)?\]?(?:\s*\[\s*|:\s+\d+%\|[^|]*\|\s*)(\d{1,12})/\d+",
            ),
            epoch: expression(r#"(?i)\bepoch\b["']?\s*[:=#]?\s*[\[(]?\s*(\d{1,9})"#),
            // `step 1200`, `iter: 500/1000`, `'global_step': 7`; else a bar, as in `120/1000 [00:12<01:10`.
            step: expression(concat!(
                r#"(?i)\b(?:global[_ ]?step|step|iter(?:ation)?|update|nupdates|num_updates|batch|it)\b["']?"#,
                r"\s*[:=#]?\s*[\[(]?\s*(\d{1,12})\b|\|\s*(\d{1,12})/\d+ \[|^\s*(\d{1,12})/\d+\s+[\[\xe2]",
            )),
            rank: expression(concat!(
                r"(?i)^.{0,80}?(?:\[rank:? ?(\d{1,6})\]|\[\d+,(\d{1,6})\]<std|\[default(\d{1,6})\]|",
                r"\brank[ =:]{1,2}(\d{1,6})\b)|^\s{0,3}(\d{1,4}): ",
            )),
            time: expression(concat!(
                r"^.{0,80}?(?-u:\b)(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)|",
                r"^\s{0,3}(\[ *\d{1,9}\.\d{1,9}\])|^.{0,40}?(\b[IWEF]\d{4} \d\d:\d\d:\d\d(?:\.\d{1,9})?)",
            )),
        }
    }

    /// Epoch and step that a line shows.
    pub(crate) fn moment(&self, line: &[u8]) -> Option<Moment> {
        let line = &line[..line.len().min(SEARCHED)];
        if let Some(found) = self.both.captures(line) {
            return Some(Moment { epoch: number(&found, 1), step: number(&found, 2) });
        }
        let epoch = self.epoch.captures(line).and_then(|found| number(&found, 1));
        let step = self.step.captures(line).and_then(|found| first_number(&found));
        (epoch.is_some() || step.is_some()).then_some(Moment { epoch, step })
    }

    /// The rank that a line names at its head.
    pub(crate) fn rank(&self, line: &[u8]) -> Option<u32> {
        rank_at(line, &self.rank_place(line)?)
    }

    /// Where a line names a rank.
    pub(crate) fn rank_place(&self, line: &[u8]) -> Option<Range<usize>> {
        let found = self.rank.captures(&line[..line.len().min(128)])?;
        found.iter().skip(1).flatten().next().map(|rank| rank.range())
    }

    /// The time at a line's head, as it stands there.
    pub(crate) fn time(&self, line: &[u8]) -> Option<String> {
        let line = &line[..line.len().min(160)];
        let found = self.time.captures(line)?;
        let text = found.iter().skip(1).flatten().next()?;
        Some(String::from_utf8_lossy(text.as_bytes()).into_owned())
    }

    /// The time of the nearest line before one that gives any.
    pub(crate) fn time_before(&self, line: &Line<'_>) -> Option<String> {
        let is_whole = line.offset == line.before.len() as u64;
        backwards(line.before, is_whole).take(TIMES_MAX).find_map(|(earlier, _)| self.time(earlier))
    }
}

/// The rank that stands there.
pub(crate) fn rank_at(line: &[u8], place: &Range<usize>) -> Option<u32> {
    std::str::from_utf8(line.get(place.clone())?).ok()?.parse().ok()
}

fn number(found: &Captures<'_>, group: usize) -> Option<u64> {
    std::str::from_utf8(found.get(group)?.as_bytes()).ok()?.parse().ok()
}

fn first_number(found: &Captures<'_>) -> Option<u64> {
    (1..found.len()).find_map(|group| number(found, group))
}

/// A moment and what was known when it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) moment: Moment,
    /// The moment that was shown before this one.
    pub(crate) previous: Option<Moment>,
    /// How often the log went back before: the same step of another run has another one.
    pub(crate) run: u32,
}

/// How far each rank had come, by the lines near those that are asked about. Every byte is looked at once at most.
#[derive(Default)]
pub(crate) struct Clock {
    looked: u64,
    /// Where the lines begin that were looked at without a gap.
    gap: u64,
    any: Option<Held>,
    ranks: HashMap<u32, Held>,
    run: u32,
}

/// A stamp and the line that was asked about when it was seen.
#[derive(Clone, Copy)]
struct Held {
    stamp: Stamp,
    seen: u64,
}

impl Clock {
    /// The moment of a line, by itself, where it shows one, or by what stands before it; of its own rank where that is
    /// known.
    pub(crate) fn at(
        &mut self,
        reader: &Reader,
        line: &Line<'_>,
        rank: Option<u32>,
        shows: bool,
    ) -> Option<Stamp> {
        let before_at = line.offset - line.before.len() as u64;
        if before_at > self.looked {
            self.gap = line.offset;
        }
        let skipped = usize::try_from(self.looked.saturating_sub(before_at)).unwrap_or(usize::MAX);
        let unread = line.before.get(skipped.min(line.before.len())..).unwrap_or_default();
        // After a gap the first line may lack its beginning.
        let is_whole = before_at == 0 || skipped > 0;
        for earlier in forwards(unread).skip(usize::from(!is_whole)) {
            self.note(reader, earlier, line.offset);
        }
        if shows {
            self.note(reader, line.bytes, line.offset);
        }
        self.looked = line.offset + line.bytes.len() as u64;
        let of_rank = rank.and_then(|rank| self.ranks.get(&rank));
        let held = [of_rank, self.any.as_ref()].into_iter().flatten().find(|held| held.seen >= self.gap);
        held.map(|held| held.stamp)
    }

    fn note(&mut self, reader: &Reader, line: &[u8], seen: u64) {
        // cuDNN's own log knows no steps, and has many lines.
        if line.starts_with(b"i! ") || line.starts_with(b"w! ") || line.starts_with(b"I! CuDNN (v") {
            return;
        }
        let Some(shown) = reader.moment(line) else { return };
        let rank = reader.rank(line);
        let held = rank.map_or(self.any, |rank| self.ranks.get(&rank).copied());
        let held = Held { stamp: self.follow(held, shown), seen };
        self.any = Some(held);
        if let Some(rank) = rank
            && (self.ranks.len() < RANKS_MAX || self.ranks.contains_key(&rank))
        {
            self.ranks.insert(rank, held);
        }
    }

    fn follow(&mut self, held: Option<Held>, shown: Moment) -> Stamp {
        let Some(Held { stamp: held, seen }) = held else {
            return Stamp { moment: shown, previous: None, run: self.run };
        };
        let epoch = shown.epoch.or(held.moment.epoch);
        let step = shown.step.or(if epoch == held.moment.epoch { held.moment.step } else { None });
        let moment = Moment { epoch, step };
        if moment == held.moment {
            return held;
        }
        let went_back = moment.epoch < held.moment.epoch
            || (moment.epoch == held.moment.epoch && moment.step < held.moment.step);
        self.run = self.run.saturating_add(u32::from(went_back));
        Stamp { moment, previous: Some(held.moment).filter(|_| seen >= self.gap), run: self.run }
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, Reader};

    #[test]
    fn epochs_and_steps_are_read_as_programs_write_them() {
        let reader = Reader::new();
        for (line, epoch, step) in [
            ("Epoch 3, step 1200, loss 0.3", Some(3), Some(1200)),
            ("Epoch: [3][ 120/5005]  Time 0.3", Some(3), Some(120)),
            ("Epoch(train) [1][50/7330]  lr: 1e-3", Some(1), Some(50)),
            ("Epoch 7:  45%|####5     | 450/1000 [00:12<00:15, 36it/s]", Some(7), Some(450)),
            ("iter: 500/1000 loss: 2", None, Some(500)),
            ("{'loss': 0.3, 'step': 70, 'epoch': 2}", Some(2), Some(70)),
            (" 12%|#2  | 120/1000 [00:12<01:10, 9.8it/s]", None, Some(120)),
            (" 1490/14403 [====>....] - ETA: 3:33", None, Some(1490)),
            ("[2026-11-02 10:12:44] INFO no step here: 3.2it/s", None, None),
        ] {
            let moment = reader.moment(line.as_bytes()).unwrap_or_default();
            assert_eq!(moment, Moment { epoch, step }, "{line}");
        }
    }

    #[test]
    fn ranks_and_times_are_read_as_launchers_write_them() {
        let reader = Reader::new();
        for (line, rank) in [
            ("[rank3]: RuntimeError", Some(3)),
            ("[1,5]<stderr>: RuntimeError", Some(5)),
            ("[E ProcessGroupNCCL.cpp:523] [Rank 1] Watchdog", Some(1)),
            ("12: RuntimeError", Some(12)),
            ("RuntimeError: ranking 3", None),
        ] {
            assert_eq!(reader.rank(line.as_bytes()), rank, "{line}");
        }
        for (line, time) in [
            ("[2026-11-02 10:12:44,812] INFO", Some("2026-11-02 10:12:44,812")),
            ("[ 1843.308145] NVRM: Xid", Some("[ 1843.308145]")),
            ("E0317 05:01:29.217242  712317 x.cc", Some("E0317 05:01:29.217242")),
            ("nothing", None),
        ] {
            assert_eq!(reader.time(line.as_bytes()).as_deref(), time, "{line}");
        }
    }
}
