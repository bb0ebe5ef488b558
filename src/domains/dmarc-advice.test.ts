import { expect, test } from 'bun:test'
import { type AdviceInput, dmarcAdvice, type NamedSource } from './dmarc-advice.ts'

const source = (kind: NamedSource['kind'], messages: number, passed: number, change: Partial<NamedSource> = {}) =>
  ({ sourceIp: '192.0.2.1', ptr: null, provider: null, kind, messages, passed, ...change }) as NamedSource

function advice(sources: NamedSource[], change: Partial<AdviceInput> = {}, days = 8) {
  const sum = (name: 'messages' | 'passed') => sources.reduce((total, each) => total + each[name], 0)
  const totals = { reports: 9, days, messages: sum('messages'), passed: sum('passed') }
  return dmarcAdvice({ domain: 'a.example', current: 'none', isRequested: true, sources, totals, ...change })
}

test('a week of mail that passes leads from none to quarantine to reject, and stays there', () => {
  const sources = [source('ours', 900, 900), source('known', 100, 99, { provider: 'Google' })]
  expect(advice(sources)).toEqual({
    policy: 'quarantine',
    text: 'Change p=none to p=quarantine. 999 of 1,000 messages passed in 8 days.',
  })
  expect(advice(sources, { current: 'quarantine' }).policy).toBe('reject')
  expect(advice(sources, { current: 'reject' })).toEqual({
    policy: 'reject',
    text: 'Keep p=reject. 999 of 1,000 messages passed in 8 days.',
  })
  expect(advice(sources, { current: null }).policy).toBe('quarantine')
})

test('failed mail of strangers does not count against the policy, but is named', () => {
  const { policy, text } = advice([source('ours', 300, 300), source('unknown', 5000, 0)])
  expect(policy).toBe('quarantine')
  expect(text).toContain('5,000 messages from unknown sources failed. Check first that none of them sends for you.')
})

test('failed mail of the server or of a known service keeps the policy, and the worst source is named', () => {
  const sources = [
    source('ours', 900, 890),
    source('known', 100, 70, { provider: 'SendGrid', sourceIp: '192.0.2.9', ptr: 'o1.sendgrid.net' }),
  ]
  expect(advice(sources)).toEqual({
    policy: 'none',
    text: 'Keep p=none. 4 % of your messages failed, more than 2 %. Most failed from SendGrid (192.0.2.9): fix its SPF or DKIM first.',
  })
  expect(advice([source('ours', 200, 10)], { current: 'reject' })).toMatchObject({
    policy: 'reject',
    text: expect.stringContaining('Most failed from this server (192.0.2.1)'),
  })
})

test('too few days or messages, and no reports, change nothing', () => {
  const few = 'Wait for reports of at least 7 days and 100 messages of yours.'
  expect(advice([source('ours', 900, 900)], {}, 6).text).toContain(few)
  expect(advice([source('ours', 99, 99), source('unknown', 900, 0)])).toMatchObject({
    policy: 'none',
    text: expect.stringContaining(few),
  })
  expect(advice([source('ours', 1, 1)], {}, 1).text).toContain('1 of 1 message passed in 1 day.')
  const none = { reports: 0, days: 0, messages: 0, passed: 0 }
  expect(advice([], { totals: none, current: 'quarantine' })).toEqual({
    policy: 'quarantine',
    text: 'No reports of a.example in this time. Most receivers send one a day.',
  })
  expect(advice([], { totals: none, isRequested: false }).text).toContain('Publish the DMARC record')
})
