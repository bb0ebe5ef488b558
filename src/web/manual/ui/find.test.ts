import { expect, test } from 'bun:test'
import { commandTree } from '../../../cli/manual/packed.ts'
import { editDistance } from '../../../config/suggest.ts'
import { nearest } from '../../reference/ui/nearest.ts'
import { readOperations, readPages } from '../bundle.ts'
import { type SearchEntry, searchIndex } from '../search-index.ts'
import { SearchIndex } from './find.ts'
import { stemOf, termsOf } from './words.ts'

const LONG = `Retries follow the schedule. ${'filler '.repeat(60)}Pauses apply to a destination.`
const SMALL: SearchEntry[] = [
  ['dns#spf', 'DNS', 'SPF record', 'Publish the record at the return path.', false],
  ['limits#retries', 'Limits', 'Retry schedule', LONG, false],
  [
    'webhooks#retries',
    'Webhooks',
    'Attempts',
    'A webhook has five attempts, with growing pauses between retries.',
    false,
  ],
]
const pathsIn = (query: string, entries = SMALL) =>
  new SearchIndex(entries).find(query).flatMap(({ sections }) => sections.map(({ path }) => path))
const excerpt = (query: string) =>
  new SearchIndex(SMALL)
    .find(query)
    .flatMap(({ sections }) => sections)
    .find(({ path }) => path === 'limits#retries')?.excerpt ?? ''

test('a section is found by words of its page, heading and text, in any case and form', () => {
  expect(pathsIn('dns')).toEqual(['dns#spf'])
  expect(pathsIn('publishing')).toEqual(['dns#spf'])
  expect(pathsIn('RETURN')).toEqual(['dns#spf'])
  expect(pathsIn('retry pause')).toEqual(['limits#retries', 'webhooks#retries'])
})

test('every word must be in the section, unless no section has them all', () => {
  expect(pathsIn('growing pauses')).toEqual(['webhooks#retries'])
  expect(pathsIn('spf nowhere')).toEqual(['dns#spf'])
  expect(pathsIn('nowhere')).toEqual([])
  expect(pathsIn(' \t')).toEqual([])
})

test('one wrong letter is forgiven in a word that is nowhere', () => {
  for (const typo of ['webook', 'wehbook', 'webhoook', 'wabhook']) expect(pathsIn(typo)).toEqual(['webhooks#retries'])
  expect(pathsIn('wabhok')).toEqual([])
})

test('headings count more than text, whole words more than beginnings, and prose more than a reference', () => {
  const entry = (path: string, heading: string, words: string, isReference = false): SearchEntry => [
    path,
    'x',
    heading,
    words,
    isReference,
  ]
  expect(pathsIn('word', [entry('a', 'x', 'word'), entry('b', 'word', 'x')])).toEqual(['b', 'a'])
  expect(pathsIn('word', [entry('a', 'wordy', 'x'), entry('b', 'word', 'x')])).toEqual(['b', 'a'])
  expect(pathsIn('word', [entry('a', 'word', 'x', true), entry('b', 'word', 'x')])).toEqual(['b', 'a'])
})

test('the sections of a page stand together', () => {
  const entries: SearchEntry[] = [
    ['a#1', 'A', 'word', 'word', false],
    ['b#1', 'B', 'word', 'word', false],
    ['a#2', 'A', 'x', 'word', false],
  ]
  const found = new SearchIndex(entries).find('word')
  expect(found.map(({ page, sections }) => [page, sections.map(({ path }) => path)])).toEqual([
    ['A', ['a#1', 'a#2']],
    ['B', ['b#1']],
  ])
})

test('the excerpt starts shortly before the first match, at a word', () => {
  expect(excerpt('pauses')).toStartWith('… filler ')
  expect(excerpt('pauses')).toEndWith('Pauses apply to a destination.')
  expect(excerpt('retries pauses')).toStartWith('Retries follow the schedule.')
  expect(excerpt('retries').length).toBeLessThan(180)
  expect(excerpt('limits')).toStartWith('Retries follow the schedule.')
})

test('forms of a word have one stem, and different words keep theirs', () => {
  const forms = [
    ['bounce', 'bounces', 'bounced', 'bouncing'],
    ['retry', 'retries', 'retried', 'retrying'],
    ['rotate', 'rotates', 'rotation', 'rotating'],
    ['stop', 'stops', 'stopped', 'stopping'],
    ['address', 'addresses'],
  ]
  for (const words of forms) expect([words[0], new Set(words.map(stemOf)).size]).toEqual([words[0], 1])
  expect(new Set(['use', 'user', 'domain', 'dns', 'ses', 'tls', 'ipv6'].map(stemOf)).size).toBe(7)
  expect(termsOf('How do I rotate the key?')).toEqual(['rotat', 'key'])
})

test('the nearest names have the fewest different letters, and share parts', () => {
  expect([editDistance('', 'abc'), editDistance('send', 'sned'), editDistance('abc', 'abc')]).toEqual([3, 1, 0])
  expect(nearest('messages_sned', ['domains_list', 'messages_send', 'messages_get', 'stats'])[0]).toBe('messages_send')
  expect(nearest('web-hooks/retry', ['dns', 'webhooks', 'tls', 'users'])[0]).toBe('webhooks')
})

/** What readers type → the page, and possibly the section, that must come first. */
const FIRST: Record<string, RegExp> = {
  spf: /^\/manual\/(dns|deliverability|troubleshooting)/,
  bounce: /^\/manual\/delivery-results/,
  'rotate key': /^\/manual\/keys/,
  nodemailer: /^\/manual\/(typescript|smtp)/,
  '429': /^\/manual\/errors#rate_limited/,
  'dkim fail': /^\/manual\/troubleshooting/,
  'webhook retry': /^\/manual\/webhooks/,
  docker: /^\/manual\/operating#run-in-a-container/,
  ipv6: /^\/manual\/(troubleshooting|deliverability)/,
  'gmail spam': /^\/manual\/(troubleshooting|deliverability)/,
  'bouncing emails': /^\/manual\/delivery-results/,
  webook: /^\/manual\/webhooks/,
  django: /^\/manual\/quick-starts#django/,
  laravel: /^\/manual\/quick-starts#laravel/,
  rails: /^\/manual\/quick-starts#rails/,
  'next.js': /^\/manual\/quick-starts#nextjs/,
  quota_exceeded: /^\/manual\/errors#quota_exceeded/,
  'list suppressions': /^\/docs#suppressions_list/,
  'move from sendgrid': /^\/manual\/from-sendgrid/,
  'restore backup': /^\/manual\/backup/,
  'unsubscribe link': /^\/manual\/tracking/,
  'attachment url': /^\/manual\/sending#attachments-by-url/,
}

test('the first result for what readers type is the page that answers', async () => {
  const reference = await readOperations()
  const index = new SearchIndex(searchIndex(await readPages(commandTree(), reference), reference))
  const wrong = Object.entries(FIRST).flatMap(([query, expected]) => {
    const paths = index.find(query).flatMap(({ sections }) => sections.map(({ path }) => path))
    return expected.test(paths[0] ?? '') ? [] : [`${query}: ${paths.slice(0, 5).join(' ')}`]
  })
  expect(wrong).toEqual([])
})
