import { describe, expect, test } from 'bun:test'
import { toSqlite } from './translate.ts'

const textOf = (text: string) => toSqlite(text).text

describe('a statement for SQLite', () => {
  test('has a value for each place of a parameter, in the order of the text', () => {
    expect(toSqlite('update a set b = $2, c = $1 where d = $2')).toEqual({
      text: 'update a set b = ?, c = ? where d = ?',
      order: [1, 0, 1],
      booleans: [],
    })
    expect(toSqlite('values ($10, $1)').order).toEqual([9, 0])
  })

  test('loses casts, locks of rows and the collation of bytes', () => {
    expect(textOf('select a::float8 from b where c = $1::bigint for update')).toBe('select a from b where c = ?')
    expect(textOf('select 1 from a for share')).toBe('select 1 from a')
    expect(textOf('select a from b limit 1 for no key update of b skip locked')).toBe('select a from b limit 1')
    expect(textOf('select a from b order by a collate "C" desc')).toBe('select a from b order by a desc')
  })

  test('reads lists as JSON', () => {
    expect(textOf('a = any($1::text[]) and b <> all($2::bigint[])')).toBe(
      'a in (select value from json_each(?)) and b not in (select value from json_each(?))',
    )
  })

  test('reads what a query found as a set', () => {
    expect(textOf('a = any(array(select a from b limit $1 for update))')).toBe('a in (select a from b limit ?)')
  })

  test('says rowid for the place of a row', () => {
    expect(textOf('delete from a returning ctid as place, ctids')).toBe('delete from a returning rowid as place, ctids')
  })

  test('says max and min for greatest and least', () => {
    expect(textOf('greatest(a, least($1, 2))')).toBe('max(a, min(?, 2))')
    expect(textOf('the_greatest(a)')).toBe('the_greatest(a)')
  })

  test('says json_group_object for json_object_agg', () => {
    expect(textOf('select json_object_agg(a, b)::text as c')).toBe('select json_group_object(a, b) as c')
  })

  test('names the other functions that make and read JSON', () => {
    expect(textOf('select json_agg(distinct a)::text from json_array_elements($1::json) given')).toBe(
      'select json_group_array(distinct a) from json_each(?) given',
    )
  })

  test('names the columns that are booleans', () => {
    expect(toSqlite('select a::boolean as "isA", b = 1, (c > $1)::boolean as late').booleans).toEqual(['isA', 'late'])
  })
})
