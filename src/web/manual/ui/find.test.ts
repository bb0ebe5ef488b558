import { expect, test } from 'bun:test'
import type { SearchEntry } from '../bundle.ts'
import { find } from './find.ts'

const LONG = `Retries follow the schedule. ${'filler '.repeat(60)}Pauses apply to a destination.`
const INDEX: SearchEntry[] = [
  ['dns#spf', 'DNS', 'SPF record', 'Publish the record at the return path.'],
  ['limits#retries', 'Limits', 'Retry schedule', LONG],
  ['webhooks#retries', 'Webhooks', 'Attempts', 'A webhook has five attempts, with growing pauses between retries.'],
]
const paths = (query: string) => find(query, INDEX).map(({ path }) => path)
const excerpt = (query: string) => find(query, INDEX).find(({ path }) => path === 'limits#retries')?.excerpt ?? ''

test('a section is found by words of its page, heading and text, in any case', () => {
  expect(paths('dns')).toEqual(['dns#spf'])
  expect(paths('spf')).toEqual(['dns#spf'])
  expect(paths('RETURN')).toEqual(['dns#spf'])
})

test('every word must be in the section', () => {
  expect(paths('retries pauses')).toEqual(['limits#retries', 'webhooks#retries'])
  expect(paths('pauses growing')).toEqual(['webhooks#retries'])
  expect(paths('pauses unknown')).toEqual([])
})

test('headings count more than page names, and those more than the text', () => {
  const index: SearchEntry[] = [
    ['a', 'x', 'x', 'word'],
    ['b', 'word', 'x', 'x'],
    ['c', 'x', 'word', 'x'],
  ]
  expect(find('word', index).map(({ path }) => path)).toEqual(['c', 'b', 'a'])
})

test('an empty query finds nothing', () => {
  expect(paths('')).toEqual([])
  expect(paths('  \t')).toEqual([])
})

test('the excerpt starts shortly before the first match, at a word', () => {
  expect(excerpt('pauses')).toStartWith('… filler ')
  expect(excerpt('pauses')).toEndWith('Pauses apply to a destination.')
  expect(excerpt('retries pauses')).toStartWith('Retries follow the schedule.')
  expect(excerpt('retries')).toEndWith('filler …')
  expect(excerpt('retries').length).toBeLessThan(180)
})

test('without a match in the text, the excerpt is its beginning', () => {
  expect(excerpt('limits')).toStartWith('Retries follow the schedule.')
})
