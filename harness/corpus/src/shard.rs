//! Which part of the entries one of several runs takes. Knows the conventions of test runners; reads no variable
//! itself.

use std::fmt;
use std::str::FromStr;

/// Part `index`, from 0, of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

/// What is wrong with a shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShardError(String);

/// Variables of runners that share tests out by index and count.
const PAIRS: [(&str, &str); 2] =
    [("GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS"), ("TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS")];

/// convict's own variable, `I/N`.
const OWN: &str = "CONVICT_SHARD";

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// A part.
    ///
    /// # Errors
    /// An index that is not below the count.
    pub fn new(index: u64, count: u64) -> Result<Self, ShardError> {
        if index < count {
            return Ok(Self { index, count });
        }
        Err(ShardError(format!(
            "shard {index}/{count}: the first number must be below the second; shards count from 0"
        )))
    }

    /// The part that the variables of a runner name, and which variable did: convict's own, then those of GoogleTest,
    /// Bazel and a Slurm array, in this order.
    ///
    /// # Errors
    /// A variable that says something impossible, named.
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<(Self, &'static str)>, ShardError> {
        let own = variable(OWN).filter(|text| !text.is_empty());
        if let Some(text) = own {
            return named(OWN, text.parse()).map(|shard| Some((shard, OWN)));
        }
        for (index, count) in PAIRS {
            if let Some(total) = variable(count).filter(|text| !text.is_empty()) {
                let index_text = variable(index).unwrap_or_default();
                let shard =
                    number(index, &index_text).and_then(|first| Self::new(first, number(count, &total)?));
                return named(count, shard).map(|shard| Some((shard, count)));
            }
        }
        slurm(variable)
    }

    /// True where the entry at that position, from 0, is in this part. Every position is in exactly one.
    #[must_use]
    pub fn takes(&self, position: usize) -> bool {
        position as u64 % self.count == self.index
    }

    /// True for everything.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.count == 1
    }
}

/// Task numbers of an array may begin anywhere and go in steps.
fn slurm(variable: impl Fn(&str) -> Option<String>) -> Result<Option<(Shard, &'static str)>, ShardError> {
    const ID: &str = "SLURM_ARRAY_TASK_ID";
    const COUNT: &str = "SLURM_ARRAY_TASK_COUNT";
    let (Some(id), Some(count)) = (variable(ID), variable(COUNT)) else { return Ok(None) };
    let optional = |name: &str, default: u64| match variable(name) {
        Some(text) => number(name, &text),
        None => Ok(default),
    };
    let first = optional("SLURM_ARRAY_TASK_MIN", 0)?;
    let step = optional("SLURM_ARRAY_TASK_STEP", 1)?.max(1);
    let id = number(ID, &id)?;
    let index = id
        .checked_sub(first)
        .ok_or_else(|| ShardError(format!("{ID}={id} is below SLURM_ARRAY_TASK_MIN={first}")))?
        / step;
    named(ID, Shard::new(index, number(COUNT, &count)?)).map(|shard| Some((shard, ID)))
}

fn number(name: &str, text: &str) -> Result<u64, ShardError> {
    text.parse().map_err(|_| ShardError(format!("{name}='{}' is no number from 0", text.escape_debug())))
}

fn named(name: &str, shard: Result<Shard, ShardError>) -> Result<Shard, ShardError> {
    shard.map_err(|ShardError(words)| {
        ShardError(if words.contains('=') { words } else { format!("{name}: {words}") })
    })
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let numbers =
            text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        let Some((index, count)) = numbers else {
            return Err(ShardError(format!(
                "'{}' is no shard: it is I/N, such as 0/3, 1/3 and 2/3 for three parts",
                text.escape_debug()
            )));
        };
        Self::new(index, count)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Option<(Shard, &'static str)>, ShardError> {
        let owned: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Shard::from_variables(move |name| {
            owned.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        })
    }

    fn shard(text: &str) -> Shard {
        text.parse().expect("a shard")
    }

    #[test]
    fn each_runner_names_its_part_in_its_own_way() {
        let cases: [(&[(&str, &str)], &str); 5] = [
            (&[("CONVICT_SHARD", "1/3"), ("GTEST_TOTAL_SHARDS", "9")], "1/3"),
            (&[("GTEST_TOTAL_SHARDS", "4"), ("GTEST_SHARD_INDEX", "3")], "3/4"),
            (&[("TEST_TOTAL_SHARDS", "2"), ("TEST_SHARD_INDEX", "0")], "0/2"),
            (
                &[
                    ("SLURM_ARRAY_TASK_ID", "2"),
                    ("SLURM_ARRAY_TASK_COUNT", "3"),
                    ("SLURM_ARRAY_TASK_MIN", "1"),
                ],
                "1/3",
            ),
            (
                &[
                    ("SLURM_ARRAY_TASK_ID", "14"),
                    ("SLURM_ARRAY_TASK_COUNT", "3"),
                    ("SLURM_ARRAY_TASK_MIN", "10"),
                    ("SLURM_ARRAY_TASK_STEP", "2"),
                ],
                "2/3",
            ),
        ];
        for (variables, expected) in cases {
            assert_eq!(
                from(variables).map(|found| found.map(|(shard, _)| shard)),
                Ok(Some(shard(expected))),
                "{variables:?}"
            );
        }
        assert_eq!(from(&[("SLURM_JOB_ID", "7")]), Ok(None));
    }

    #[test]
    fn an_impossible_part_is_told_with_the_variable_that_names_it() {
        let wrong: [(&[(&str, &str)], &str); 5] = [
            (&[("CONVICT_SHARD", "3/3")], "CONVICT_SHARD: shard 3/3"),
            (&[("CONVICT_SHARD", "a")], "CONVICT_SHARD: 'a' is no shard"),
            (&[("GTEST_TOTAL_SHARDS", "2")], "GTEST_SHARD_INDEX=''"),
            (&[("TEST_TOTAL_SHARDS", "0"), ("TEST_SHARD_INDEX", "0")], "TEST_TOTAL_SHARDS: shard 0/0"),
            (
                &[
                    ("SLURM_ARRAY_TASK_ID", "1"),
                    ("SLURM_ARRAY_TASK_COUNT", "3"),
                    ("SLURM_ARRAY_TASK_MIN", "2"),
                ],
                "is below",
            ),
        ];
        for (variables, words) in wrong {
            let error = from(variables).expect_err("impossible").to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    proptest! {
        #[test]
        fn parts_take_each_position_exactly_once(count in 1_u64..50, position in 0_usize..1000) {
            let takers = (0..count).filter(|index| Shard::new(*index, count).is_ok_and(|shard| shard.takes(position)));
            prop_assert_eq!(takers.count(), 1);
        }
    }
}
