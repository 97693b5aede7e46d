//! What can be read of a finalized descriptor. Knows attributes by number; hands out copies.

use std::rc::Rc;

use abi::cudnn::{Attribute as A, AttributeType as T};

use super::descriptor::{Data, Descriptor, Finished};
use super::{BoundEngine, json};
use crate::engine::engines;
use crate::stop::{self, Stop};

impl Descriptor {
    /// The elements of an attribute.
    ///
    /// # Errors
    /// `NOT_FINALIZED`, `ATTRIBUTE_TYPE`, or `BAD_PARAM` for an attribute that cannot be read.
    pub fn get(&self, name: A, kind: T) -> Result<Data, Stop> {
        let (expected, data) = match (&**self.finished()?, name) {
            (Finished::Graph(problem), A::GRAPH_ENGINE_COUNT) => {
                (T::INT64, Data::Longs(vec![engines(problem.operation).len() as i64]))
            }
            (Finished::Engine(engine), name) => of_engine(engine, name)?,
            (Finished::Config(engine, knobs, announced), name) => match name {
                A::CONFIG_WORKSPACE_SIZE => (T::INT64, Data::Longs(vec![*announced])),
                A::CONFIG_ENGINE => (T::DESCRIPTOR, descriptors([Finished::Engine(engine.clone())])),
                A::CONFIG_KNOB_CHOICES => {
                    (T::DESCRIPTOR, descriptors(knobs.iter().map(|knob| Finished::KnobChoice(*knob))))
                }
                _ => return Err(unreadable(name)),
            },
            (Finished::KnobChoice(knob), A::KNOB_TYPE) => (T::KNOB_TYPE, Data::Ints(vec![knob.knob as i32])),
            (Finished::KnobChoice(knob), A::KNOB_VALUE) => (T::INT64, Data::Longs(vec![knob.value])),
            (Finished::KnobInfo(range), A::KNOB_INFO_TYPE) => (T::KNOB_TYPE, Data::Ints(vec![range.knob])),
            (Finished::KnobInfo(range), A::KNOB_INFO_MINIMUM) => (T::INT64, Data::Longs(vec![range.minimum])),
            (Finished::KnobInfo(range), A::KNOB_INFO_MAXIMUM) => (T::INT64, Data::Longs(vec![range.maximum])),
            (Finished::KnobInfo(_), A::KNOB_INFO_STRIDE) => (T::INT64, Data::Longs(vec![1])),
            (Finished::Heuristics(problem, list), A::HEURISTIC_RESULTS) => {
                let bound = list.iter().filter_map(|config| {
                    let engine = crate::engine::engine(problem.operation, config.engine)?;
                    let problem = Rc::clone(problem);
                    let engine = BoundEngine { problem, index: config.engine, engine };
                    let announced = engine.engine.workspace_bytes(&engine.problem, &config.knobs);
                    Some(Finished::Config(engine, config.knobs.clone(), announced))
                });
                (T::DESCRIPTOR, descriptors(bound))
            }
            (Finished::Plan(plan), A::PLAN_WORKSPACE_SIZE) => {
                (T::INT64, Data::Longs(vec![plan.workspace_bytes]))
            }
            (Finished::Plan(plan), A::PLAN_JSON) => (T::CHAR, Data::Text(json::write(plan)?)),
            (Finished::Device(text), A::DEVICE_JSON) => (T::CHAR, Data::Text(text.clone())),
            _ => return Err(unreadable(name)),
        };
        if kind == expected {
            Ok(data)
        } else {
            Err(Stop::status(stop::ATTRIBUTE_TYPE, format!("attribute {} is not of type {}", name.0, kind.0)))
        }
    }
}

fn of_engine(engine: &BoundEngine, name: A) -> Result<(T, Data), Stop> {
    Ok(match name {
        A::ENGINE_INDEX => (T::INT64, Data::Longs(vec![engine.index])),
        A::ENGINE_NUMERICAL_NOTES => (T::NUMERICAL_NOTE, Data::Ints(engine.engine.numerical.to_vec())),
        A::ENGINE_BEHAVIOR_NOTES => (T::BEHAVIOR_NOTE, Data::Ints(engine.engine.behavior.to_vec())),
        A::ENGINE_KNOB_INFO => {
            (T::DESCRIPTOR, descriptors(engine.engine.knobs.iter().map(|range| Finished::KnobInfo(*range))))
        }
        _ => return Err(unreadable(name)),
    })
}

fn descriptors(finished: impl IntoIterator<Item = Finished>) -> Data {
    Data::Descriptors(finished.into_iter().map(Rc::new).collect())
}

fn unreadable(name: A) -> Stop {
    Stop::bad_param(format!("attribute {} cannot be read", name.0))
}
