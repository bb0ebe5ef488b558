import { describe, expect, test } from 'bun:test'
import { BOUNCE_RULES, readable, takes } from './bounce-rules.ts'
import { parseReplyLine } from './reply.ts'

const WORDED = BOUNCE_RULES.flatMap((rule) => rule.samples.map((sample) => ({ rule, sample })))

describe('the table of refusals', () => {
  test.each(WORDED.map(({ sample, rule }) => [sample, rule.name, rule] as const))(
    'reads %s as %s',
    (sample, _, rule) => {
      const reply = parseReplyLine(sample.replace(/^(\d{3})-/, '$1 '))!
      expect(BOUNCE_RULES.find((each) => takes(each, reply, readable(reply.text)))).toBe(rule)
    },
  )

  test('gives each rule with words a sample and a source', () => {
    const bare = BOUNCE_RULES.filter(
      ({ phrases, samples, source }) => phrases.length > 0 && (samples.length === 0 || source === ''),
    )
    expect(bare.map(({ name }) => name)).toEqual([])
  })
})

describe('an address in a reply', () => {
  test.each([
    ['<spam@quota.example>: unknown', '<address>: unknown'],
    ['User [ann.lee@dest.example] does not exist', 'user <address> does not exist'],
    ['(ann@dest.example) ann@dest.example. Gone', '<address> <address>. gone'],
    [`"ann lee"@dest.example 'ann@dest.example' "ann@dest.example"`, '<address> <address> <address>'],
    ['<mailto:ann@dest.example> ann@dest.example> ann@[192.0.2.1]', '<address> <address> <address>'],
    ['{ann@dest.example} <ann@пример.example>', '<address> <address>'],
    ['a @ b, @home', 'a @ b, @home'],
  ])('of the form %s reads as %s', (text, expected) => {
    expect(readable(text)).toBe(expected)
  })
})

test('the path of a link says nothing, except a code behind #', () => {
  expect(readable('See http://dest.example/spam/quota?a=blocked for help')).toBe('see http://dest.example/ for help')
  expect(readable('https://a.example/codes.php#BL000001')).toBe('https://a.example/#bl000001')
})
