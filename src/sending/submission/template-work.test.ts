import { expect, test } from 'bun:test'
import { createFilling, parseText } from './template-engine.ts'

const VARIABLES = { word: 'abcdefgh', list: ['a', 'bb', 'ccc'], user: { name: 'Ann', tags: ['x', 'y'] } }

function filled(source: string, variables: object, left: number): { text: string; left: number } {
  const workBudget = { left }
  const text = createFilling({ ...VARIABLES, ...variables }, workBudget)(parseText(source, 'plain'))
  return { text, left: workBudget.left }
}

/** Steps of 100, and the characters that are read, made and written. */
test.each([
  ['', 100],
  ['text', 204],
  ['{{ word }}', 316],
  ['{{ word }}{{ word }}', 532],
  ['{{ list }}', 615],
  ['{{ user.name }}', 406],
  ['{{ list | size }}', 810],
  ['{{ word | upcase }}', 540],
  ["{{ word | append: 'xyz' }}", 555],
  ["{{ word | prepend: 'xyz' }}", 555],
  ["{{ word | replace: 'a', 'xyz' }}", 551],
  ["{{ 0 | date: '%Y' }}", 5_337],
  ['{{ user | json }}', 1_016],
  ['{% for each in list %}{{ each }}{% endfor %}', 1_215],
  ["{% if word == 'abcdefgh' %}y{% endif %}", 517],
  ["{% if list contains 'bb' %}y{% endif %}", 812],
  ['{% assign x = word %}', 300],
  ["{{ list | join: '-' }}", 841],
])('%p costs %d', (source, cost) => {
  expect(filled(source, {}, 1_000_000).left).toBe(1_000_000 - cost)
  expect(filled(source, {}, cost).left).toBe(0)
  expect(() => filled(source, {}, cost - 1)).toThrow('the messages of this batch exceed their shared rendering budget')
})

test.each([
  ['{{ word | split: long }}', 'split'],
  ['{{ word | replace: long, "x" }}', 'replace'],
  ['{% if word contains long %}{% endif %}', 'contains'],
])('%p accepts an argument of 256 characters and no longer one', (source, name) => {
  expect(() => filled(source, { long: 'x'.repeat(256) }, 1_000_000)).not.toThrow()
  const refused = `${name} accepts no argument of more than 256 characters, and no array`
  expect(() => filled(source, { long: 'x'.repeat(257) }, 1_000_000)).toThrow(refused)
  expect(() => filled(source, { long: ['x'] }, 1_000_000)).toThrow(refused)
})

test.each(['append', 'prepend', 'concat', 'default'])('%s accepts text of any length, which is charged', (name) => {
  const [value, long] = name === 'concat' ? ['list', ['x'.repeat(1_000)]] : ['word', 'x'.repeat(1_000)]
  expect(filled(`{{ ${value} | ${name}: long }}`, { long }, 1_000_000).left).toBeLessThan(1_000_000 - 1_000)
})
