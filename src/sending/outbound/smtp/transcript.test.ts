import { expect, test } from 'bun:test'
import { createTranscript } from './transcript.ts'

test('lines carry the speaker and the milliseconds since the start', () => {
  let now = 1000.4
  const transcript = createTranscript(() => now)
  transcript.note('connecting')
  now = 1012.6
  transcript.server('220 hello')
  transcript.client('EHLO out.example')
  transcript.server('250-mx\n250 PIPELINING')
  expect(transcript.text()).toBe(
    '0 -- connecting\n12 S: 220 hello\n12 C: EHLO out.example\n12 S: 250-mx\n12 S: 250 PIPELINING',
  )
})

test('keeps the start and the end of a long dialogue', () => {
  const transcript = createTranscript(() => 0, 1000)
  for (let i = 0; i < 500; i++) transcript.server(`250-line ${i}`)
  const text = transcript.text()
  expect(text.length).toBeLessThan(1050)
  expect(text).toStartWith('0 S: 250-line 0\n')
  expect(text).toEndWith('\n0 S: 250-line 499')
  expect(text).toMatch(/… \d+ lines omitted …/)
})

test('cuts a long line and shows control characters as ?', () => {
  const transcript = createTranscript(() => 0)
  transcript.server('x'.repeat(5000))
  transcript.server('a\x1b[2Jb\x00c')
  const [long, odd] = transcript.text().split('\n')
  expect(long!.length).toBeLessThan(520)
  expect(odd).toBe('0 S: a?[2Jb?c')
})
