import { expect, test } from 'bun:test'
import { ApiError } from '../../src/web/dashboard/ui/kit/api.ts'
import { faultsOf } from '../../src/web/dashboard/ui/pages/templates/faults.ts'
import { lacks, readSample, sampleText, withMissing } from '../../src/web/dashboard/ui/pages/templates/sample.ts'

/** The sample in the template editor, and the API's errors in its texts. */

test.each([
  ['', {}],
  [' \n', {}],
  ['{"user": {"name": "Ann"}, "items": [1, null]}', { user: { name: 'Ann' }, items: [1, null] }],
])('%j is a sample', (text, sample) => {
  expect(readSample(text)).toEqual({ sample })
})

test.each([
  ['[1]', { line: 1, column: 1, message: 'Write a JSON object, such as {"name": "Ann"}.' }],
  ['null', { line: 1, column: 1, message: 'Write a JSON object, such as {"name": "Ann"}.' }],
  ['{"a": 1,\n "b": }', { message: 'This is not valid JSON.' }],
])('%j is none', (text, fault) => {
  expect(readSample(text)).toEqual({ fault: expect.objectContaining(fault) })
})

test('a sample is written as indented JSON, an empty one as nothing', () => {
  expect([sampleText({}), sampleText({ a: 1 })]).toEqual(['', '{\n  "a": 1\n}'])
})

test('missing values are added beside those that are there', () => {
  const sample = { user: { name: 'Ann' }, text: 'x', none: null }
  const names = [
    'user.name',
    'user.plan',
    'user["first name"]',
    'text.size',
    'rows[0].id',
    'constructor.name',
    'none.a',
  ]
  const texts = ['{% for item in items %}', '{% for each in user.orders %}{% endfor %}']
  expect(withMissing(sample, [...names, 'items', 'user.orders'], texts)).toEqual({
    items: [],
    user: { name: 'Ann', orders: [], plan: 'plan', 'first name': 'first name' },
    text: 'x',
    rows: [{ id: 'id' }],
    constructor: { name: 'name' },
    none: { a: 'a' },
  } as never)
  expect(sample).toEqual({ user: { name: 'Ann' }, text: 'x', none: null })
})

test('a value is missing unless it is there, whatever it is', () => {
  const sample = { user: { name: null }, list: [0] }
  const names = ['user', 'user.name', 'list[0]', 'list[1]', 'user.name.first', 'toString', 'user["name"]']
  expect(names.filter((name) => lacks(sample, name))).toEqual(['list[1]', 'user.name.first', 'toString'])
})

test('__proto__ in a name changes no prototype', () => {
  expect(withMissing({}, ['__proto__.x', 'a.__proto__.x'], [])).toEqual({ a: {} })
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
