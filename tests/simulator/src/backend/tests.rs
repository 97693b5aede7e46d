//! Descriptors without raw pointers: what they take, what they refuse and with which status. Knows no memory.

use std::rc::Rc;

use abi::cudnn::{Attribute as A, AttributeType as T, DescriptorType as D};

use super::descriptor::{Data, Descriptor, Finished};
use super::device;
use crate::faults::Script;
use crate::stop::{self, Ending, Stop};

fn made(kind: D, attributes: &[(A, Data)], devices: bool) -> Result<Rc<Finished>, Stop> {
    let mut descriptor = Descriptor::new(kind)?;
    for (name, data) in attributes {
        descriptor.set(*name, data.clone());
    }
    descriptor.finalize(&Script::default(), devices)?;
    descriptor.finished().cloned()
}

fn longs(values: &[i64]) -> Data {
    Data::Longs(values.to_vec())
}

fn part(finished: &Rc<Finished>) -> Data {
    Data::Descriptors(vec![Rc::clone(finished)])
}

fn tensor(id: i64, dtype: i32, extents: &[i64]) -> Result<Rc<Finished>, Stop> {
    let strides = case::Layout::Nchw.strides(&extents.to_vec());
    let attributes = [
        (A::TENSOR_DATA_TYPE, Data::Ints(vec![dtype])),
        (A::TENSOR_DIMENSIONS, longs(extents)),
        (A::TENSOR_STRIDES, longs(&strides)),
        (A::TENSOR_UNIQUE_ID, longs(&[id])),
        (A::TENSOR_ALIGNMENT, longs(&[16])),
    ];
    made(D::TENSOR, &attributes, false)
}

fn convolution(pad: i64) -> Result<Rc<Finished>, Stop> {
    let attributes = [
        (A::CONVOLUTION_COMPUTE_TYPE, Data::Ints(vec![0])),
        (A::CONVOLUTION_MODE, Data::Ints(vec![1])),
        (A::CONVOLUTION_SPATIAL_DIMS, longs(&[2])),
        (A::CONVOLUTION_DILATIONS, longs(&[1, 1])),
        (A::CONVOLUTION_STRIDES, longs(&[1, 1])),
        (A::CONVOLUTION_PRE_PADDINGS, longs(&[pad, pad])),
        (A::CONVOLUTION_POST_PADDINGS, longs(&[pad, pad])),
    ];
    made(D::CONVOLUTION, &attributes, false)
}

fn graph(x: &[i64], w: &[i64], y: &[i64]) -> Result<Rc<Finished>, Stop> {
    let attributes = [
        (A::FORWARD_CONVOLUTION, part(&convolution(1)?)),
        (A::FORWARD_X, part(&tensor(1, 0, x)?)),
        (A::FORWARD_W, part(&tensor(2, 0, w)?)),
        (A::FORWARD_Y, part(&tensor(3, 0, y)?)),
    ];
    let operation = made(D::OPERATION_FORWARD, &attributes, false)?;
    made(D::OPERATION_GRAPH, &[(A::GRAPH_OPERATIONS, part(&operation))], false)
}

fn sound() -> Rc<Finished> {
    graph(&[2, 4, 5, 5], &[6, 2, 3, 3], &[2, 6, 5, 5]).unwrap()
}

fn status(result: Result<Rc<Finished>, Stop>) -> i32 {
    match result {
        Err(Stop::Status(status, _)) => status,
        Ok(_) | Err(Stop::End(_)) => panic!("no status"),
    }
}

fn engine(index: i64) -> Result<Rc<Finished>, Stop> {
    made(D::ENGINE, &[(A::ENGINE_GRAPH, part(&sound())), (A::ENGINE_INDEX, longs(&[index]))], false)
}

#[test]
fn bad_geometry_is_a_bad_parameter_at_the_descriptor_that_states_it() {
    assert_eq!(status(tensor(1, 0, &[1, 0, 1])), stop::BAD_PARAM);
    assert_eq!(status(tensor(1, 0, &[1; 9])), stop::BAD_PARAM);
    assert_eq!(status(convolution(-1)), stop::BAD_PARAM);
    assert_eq!(status(graph(&[2, 4, 5, 5], &[6, 2, 3, 3], &[2, 6, 5, 6])), stop::BAD_PARAM);
    assert_eq!(status(graph(&[2, 4, 5, 5], &[6, 3, 3, 3], &[2, 6, 5, 5])), stop::BAD_PARAM);
    assert_eq!(status(graph(&[2, 4, 5, 5], &[5, 2, 3, 3], &[2, 5, 5, 5])), stop::BAD_PARAM);
    assert_eq!(tensor(1, 99, &[1, 1, 1]), Err(Stop::End(Ending::IllegalInstruction)));
}

#[test]
fn engines_refuse_by_reason() {
    let refusals: Vec<i32> = [4, 7, 9, 11, 12, 13, 16, -1]
        .map(|index| engine(index).err())
        .into_iter()
        .map(|stop| match stop {
            Some(Stop::Status(status, _)) => status,
            Some(Stop::End(_)) | None => 0,
        })
        .collect();
    assert_eq!(refusals, [3003, 0, 3004, 3002, 3007, 3000, 2005, 2005]);
}

#[test]
fn attributes_are_checked_for_owner_type_count_and_state() {
    let mut tensor = Descriptor::new(D::TENSOR).unwrap();
    let refusal =
        |result: Result<(), Stop>| if let Err(Stop::Status(status, _)) = result { status } else { 0 };
    assert_eq!(refusal(tensor.may_set(A::TENSOR_DIMENSIONS, T::INT64, 4)), 0);
    assert_eq!(refusal(tensor.may_set(A::TENSOR_DIMENSIONS, T::INT32, 4)), stop::ATTRIBUTE_TYPE);
    assert_eq!(refusal(tensor.may_set(A::TENSOR_DIMENSIONS, T::INT64, 9)), stop::BAD_PARAM);
    assert_eq!(refusal(tensor.may_set(A::TENSOR_DIMENSIONS, T::INT64, -1)), stop::BAD_PARAM);
    assert_eq!(refusal(tensor.may_set(A::PLAN_JSON, T::CHAR, 1)), stop::BAD_PARAM);
    assert_eq!(refusal(tensor.get(A::TENSOR_DIMENSIONS, T::INT64).map(|_| ())), stop::NOT_FINALIZED);
    assert_eq!(refusal(tensor.finalize(&Script::default(), false)), stop::BAD_PARAM);
}

#[test]
fn every_recommended_configuration_gives_a_plan() {
    for mode in [0, 1, 2, 3] {
        let attributes = [(A::HEURISTIC_GRAPH, part(&sound())), (A::HEURISTIC_MODE, Data::Ints(vec![mode]))];
        let Finished::Heuristics(_, list) = &*made(D::ENGINE_HEURISTIC, &attributes, false).unwrap() else {
            panic!("no list");
        };
        assert!(list.len() >= 2);
        for config in list {
            let engine = engine(config.engine).unwrap();
            let knobs = config.knobs.iter().map(|knob| Rc::new(Finished::KnobChoice(*knob))).collect();
            let parts =
                [(A::CONFIG_ENGINE, part(&engine)), (A::CONFIG_KNOB_CHOICES, Data::Descriptors(knobs))];
            let config = made(D::ENGINE_CONFIG, &parts, false).unwrap();
            let plan = [(A::PLAN_CONFIG, part(&config)), (A::PLAN_HANDLE, Data::Pointers(vec![1]))];
            assert!(made(D::EXECUTION_PLAN, &plan, false).is_ok());
        }
    }
}

#[test]
fn device_properties_come_from_json_without_a_device_and_round_trip() {
    let json = Data::Text(device::PROPERTIES.to_owned());
    let device = made(D::DEVICE_PROPERTIES, &[(A::DEVICE_JSON, json)], false).unwrap();
    assert_eq!(*device, Finished::Device(device::PROPERTIES.to_owned()));
    let lacking = device::PROPERTIES.replace("warpSize", "warpsize");
    assert_eq!(
        status(made(D::DEVICE_PROPERTIES, &[(A::DEVICE_JSON, Data::Text(lacking))], false)),
        stop::BAD_PARAM
    );
    let asked = [(A::DEVICE_ID, Data::Ints(vec![0]))];
    assert_eq!(status(made(D::DEVICE_PROPERTIES, &asked, false)), stop::NOT_INITIALIZED);
    assert!(made(D::DEVICE_PROPERTIES, &asked, true).is_ok());
}

#[test]
fn a_plan_needs_to_know_its_device() {
    let config = made(D::ENGINE_CONFIG, &[(A::CONFIG_ENGINE, part(&engine(0).unwrap()))], false).unwrap();
    let plan = [(A::PLAN_CONFIG, part(&config))];
    assert_eq!(status(made(D::EXECUTION_PLAN, &plan, false)), stop::BAD_PARAM);
    let json = Data::Text(device::PROPERTIES.to_owned());
    let device = made(D::DEVICE_PROPERTIES, &[(A::DEVICE_JSON, json)], false).unwrap();
    let plan = [(A::PLAN_CONFIG, part(&config)), (A::PLAN_DEVICE_PROPERTIES, part(&device))];
    assert!(made(D::EXECUTION_PLAN, &plan, false).is_ok());
}
