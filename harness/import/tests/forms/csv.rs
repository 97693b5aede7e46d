//! Tables of shapes and lists of case lines, good and bad.

use import::Format;

use super::{complaint, counted, read, reasons};

#[test]
fn columns_may_come_in_any_order_and_the_unknown_ones_are_named() {
    let table = "count,k,c,n,i,f,p,dtype,layout,speed,op\n\
                 3,64,32,8,56x56,3,1,half,channels_last,fast,fprop\n\
                 5,64,32,8,56x56,3x3,1x1,f16,NHWC,,FPROP\n\
                 1,4,2,1,7x8x9,1,,\"f16,f16,f32\",nchw,,wgrad\n";
    let import = read(table.as_bytes(), None);
    assert_eq!(
        counted(&import),
        [
            (8, "fprop f16 nhwc n8 c32 k64 i56x56 f3x3 p1x1".to_owned()),
            (1, "wgrad f16,f16,f32 nchw n1 c2 k4 i7x8x9 f1x1x1".to_owned()),
        ]
    );
    assert_eq!(import.cases[0].first, 2);
    assert_eq!(import.notes, ["columns that are not known and were passed over: speed"]);
}

#[test]
fn axes_may_have_columns_of_their_own() {
    let table = "batch,in_channels,out_channels,groups,in_h,in_w,kernel_h,kernel_w,stride_h,stride_w\n2,8,8,8,5,6,3,1,2,1\n";
    let import = read(table.as_bytes(), None);
    assert_eq!(counted(&import), [(1, "fprop f32 nchw n2 c8 k8 g8 i5x6 f3x1 s2x1".to_owned())]);
}

#[test]
fn poolings_products_and_normalizations_have_rows_too() {
    let table = "op,b,m,n,c,k,i,f,s,layout\nmaxpool,,,2,8,,9x9,3,2,\navgpool,,,2,8,,9x9,3,,channels_last\n\
                 matmul,3,4,5,,6,,,,\nmatmul,,4,5,,6,,,,\"row,col,row\"\nrmsnorm,,,4,16,,,,,\nfprop,,,1,1,1,4,3,,\n\
                 matmul,,4,5,6,,,,,\nmatmul,,4,5,,6,,,,nchw\n";
    let import = read(table.as_bytes(), None);
    let cases: Vec<String> = counted(&import).into_iter().map(|(_, case)| case).collect();
    assert_eq!(
        cases,
        [
            "maxpool f32 nchw n2 c8 i9x9 f3x3 s2x2",
            "avgpool f32 nhwc n2 c8 i9x9 f3x3",
            "matmul f32 b3 m4 n5 k6",
            "matmul f32 row,col,row m4 n5 k6",
            "rmsnorm f32 nchw n4 c16",
            "fprop f32 nchw n1 c1 k1 i4 f3",
        ]
    );
    assert_eq!(import.refused.iter().map(|refused| refused.lines[0]).collect::<Vec<_>>(), [8, 9]);
}

#[test]
fn rows_that_are_no_case_are_counted_with_the_rule_that_they_break() {
    let table =
        "n,c,k,i,f\n1,1,1,4,3\n1,1,1,2,3\n1,1\n1,-1,1,4,3\n1,99999999999999999999,1,4,3\n1,1,1,4x4x4x4,3\n";
    let import = read(table.as_bytes(), None);
    assert_eq!(counted(&import), [(1, "fprop f32 nchw n1 c1 k1 i4 f3".to_owned())]);
    let all = reasons(&import);
    assert_eq!(all.iter().map(|(count, _)| count).sum::<u64>(), 5, "{all:?}");
    assert!(all.contains(&(1, "a row without 5 cells")), "{all:?}");
    assert!(all.iter().any(|(_, reason)| reason.contains("more than the padded input of 2")), "{all:?}");
    assert!(all.iter().any(|(_, reason)| reason.contains("'-1' is below 1")), "{all:?}");
}

#[test]
fn a_table_without_a_header_or_with_a_column_twice_is_none() {
    assert!(complaint(b"1,2,3\n", Some(Format::Csv)).starts_with("has no header with known columns"));
    assert!(complaint(b"n,c,k,N,i,f\n", None).starts_with("names the column N twice"));
}

#[test]
fn what_an_import_wrote_is_read_with_its_counts_and_a_plain_list_counts_once_a_line() {
    let list = "# 2 cases\n\n# count 7, first at line 12, fused, engines 1 70\nfprop f32 nchw n1 c1 k1 i4 f3\n\
                wgrad f32 nchw n1 c1 k1 i4 f3\nwgrad f32 nchw n1 c1 k1 i2 f3\n";
    let import = read(list.as_bytes(), None);
    assert_eq!(
        counted(&import),
        [(7, "fprop f32 nchw n1 c1 k1 i4 f3".to_owned()), (1, "wgrad f32 nchw n1 c1 k1 i4 f3".to_owned())]
    );
    assert!(import.cases[0].fused && import.cases[0].engines == [1, 70]);
    assert_eq!(import.refused[0].lines, [6]);
}

#[test]
fn semicolons_and_tabs_separate_as_well_and_blanks_are_no_part_of_a_value() {
    for table in ["n;c;k;i;f\n2;3;4; 5 x 6 ;3\n", "n\tc\tk\ti\tf\tspeed\n2\t3\t4\t5x6\t3\t\n"] {
        let import = read(table.as_bytes(), None);
        assert_eq!(counted(&import), [(1, "fprop f32 nchw n2 c3 k4 i5x6 f3x3".to_owned())], "{table:?}");
    }
    assert!(complaint(b"n,c,k,i,f\r1,1,1,4,3\r", None).starts_with("ends its lines with a carriage return"));
}

#[test]
fn a_cell_smuggles_no_word_into_the_case() {
    let import = read("n,c,k,i,f\n1,1,1,4,3 engine=3\n1,1 k9,1,4,3\n".as_bytes(), None);
    assert_eq!((counted(&import), import.refused.iter().map(|one| one.count).sum()), (Vec::new(), 2_u64));
}

#[test]
fn a_count_that_is_none_is_told_and_one_beyond_counting_is_the_largest() {
    let list = "# count -7, first at line 1\nfprop f32 nchw n1 c1 k1 i4 f3\n\
                # count 99999999999999999999, first at line 1\nwgrad f32 nchw n1 c1 k1 i4 f3\n";
    let import = read(list.as_bytes(), None);
    assert_eq!(counted(&import), [(u64::MAX, "wgrad f32 nchw n1 c1 k1 i4 f3".to_owned())]);
    assert_eq!(reasons(&import), [(1, "a case below a count that is no number above 0")]);
}
