import { expect, test } from 'bun:test'
import { ApiError } from '../../src/dashboard/ui/kit/api.ts'
import { faultsOf } from '../../src/dashboard/ui/pages/templates/faults.ts'
import { variablesOf } from '../../src/dashboard/ui/pages/templates/sample.ts'

/** Sample values of the template editor, and the API's errors in its texts. */

test.each([
  [{ name: 'Ann', note: '' }, { name: 'Ann' }],
  [{ 'user.name': 'Ann', 'user.plan': 'pro' }, { user: { name: 'Ann', plan: 'pro' } }],
  [
    { 'items[0].name': 'Tea', 'user["first name"]': 'Ann' },
    { items: [{ name: 'Tea' }], user: { 'first name': 'Ann' } },
  ],
  [
    { count: '17', price: '-1.5', vip: 'true', none: 'null' },
    { count: 17, price: -1.5, vip: true, none: null },
  ],
  [{ items: '[{"name":"Tea"}]' }, { items: [{ name: 'Tea' }] }],
  [
    { zip: '01234', open: '[not json', said: 'true love' },
    { zip: '01234', open: '[not json', said: 'true love' },
  ],
  [{ user: 'Ann', 'user.name': 'Bob' }, { user: { name: 'Bob' } }],
] as [Record<string, string>, object][])('%j is %j', (typed, expected) => {
  expect(variablesOf(typed)).toEqual(expected as never)
})

test('__proto__ in a name changes no prototype', () => {
  expect(variablesOf({ '__proto__.x': '1', 'a.__proto__.x': '1' })).toEqual({ a: {} })
  expect(({} as { x?: number }).x).toBeUndefined()
})

test('faults are at their text, with their position', () => {
  const reported = 'html is not a valid template at line 3, column 5: tag name expected'
  expect(
    faultsOf(new ApiError(400, 'validation_error', reported, { html: reported, text: 'text is too long' })),
  ).toEqual({
    texts: {
      html: { line: 3, column: 5, message: 'tag name expected' },
      text: { line: null, column: null, message: 'text is too long' },
    },
    other: '',
  })
  const details = { field: 'subject', line: 1, column: 4, variable: 'item.name' }
  const missing = new ApiError(422, 'template_error', 'It is missing.', { variables: 'It is missing.' }, details)
  expect(faultsOf(missing)).toEqual({
    texts: { subject: { line: 1, column: 4, message: 'It is missing.' } },
    other: '',
  })
  expect(faultsOf(new ApiError(0, 'network', 'No server.'))).toEqual({ texts: {}, other: 'No server.' })
})
