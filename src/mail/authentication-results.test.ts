import { describe, expect, test } from 'bun:test'
import {
  type AuthenticationResult,
  authenticationResultsField,
  authenticationResultsPayload,
  ownResultRanges,
} from './authentication-results.ts'
import { without } from './field-ranges.ts'

const mail = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`)
const stripped = (raw: Buffer, host = 'mx.example') => Buffer.from(without(raw, ownResultRanges(raw, host))).toString()

describe('our Authentication-Results field', () => {
  test('names each finding with its properties, folded', () => {
    const field = authenticationResultsField('mx.example', [
      { method: 'spf', result: 'pass', comment: null, properties: [['smtp.mailfrom', 'a.example']] },
      {
        method: 'dkim',
        result: 'pass',
        comment: 'key is 2048 bit',
        properties: [
          ['header.d', 'a.example'],
          ['header.s', 's1'],
          ['header.a', 'rsa-sha256'],
          ['header.b', 'a/b+c=Zx'],
        ],
      },
      { method: 'dmarc', result: 'pass', comment: 'p=reject', properties: [['header.from', 'a.example']] },
      { method: 'arc', result: 'none', comment: null, properties: [] },
    ])
    expect(field.replace(/\r\n (?=\S)/g, ' ')).toBe(
      'Authentication-Results: mx.example; spf=pass smtp.mailfrom=a.example; dkim=pass (key is 2048 bit) header.d=a.example header.s=s1 header.a=rsa-sha256 header.b="a/b+c=Zx"; dmarc=pass (p=reject) header.from=a.example; arc=none\r\n',
    )
    expect(Math.max(...field.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(76)
  })

  test('contains nothing from the mail that ends a value, a comment or the field', () => {
    const evil = 'x\r\nX-Evil: 1;) dkim=pass "\\ ü\0(('
    const results: AuthenticationResult[] = [
      { method: 'spf', result: 'fail', comment: evil, properties: [['smtp.helo', evil]] },
    ]
    const field = authenticationResultsField('mx.example', results)
    expect(field).toMatch(/^[ -~]+\r\n(?: [ -~]+\r\n)*$/)
    const unfolded = field.replace(/\r\n (?=\S)/g, ' ').trim()
    expect(unfolded).toBe(
      'Authentication-Results: mx.example; spf=fail (x??X-Evil: 1; dkim=pass " ??) smtp.helo="x??X-Evil: 1;) dkim=pass \\"\\\\ ??(("',
    )
  })

  test('has neither name nor final line end as an ARC payload', () => {
    expect(authenticationResultsPayload('mx.example', [])).toBe('mx.example; none')
  })

  test('cuts values that would make a line longer than SMTP takes', () => {
    const long = 'a'.repeat(5000)
    const field = authenticationResultsField('mx.example', [
      { method: 'dkim', result: 'fail', comment: long, properties: [['header.d', long]] },
    ])
    expect(Math.max(...field.split('\r\n').map((line) => line.length))).toBeLessThan(998)
  })
})

describe('Authentication-Results fields in a mail', () => {
  test.each([
    'Authentication-Results: mx.example; dkim=pass',
    'authentication-results:mx.example;dkim=pass',
    'AUTHENTICATION-RESULTS : MX.Example 1; spf=pass',
    'Authentication-Results: (a (nested; one) b) mx.example (c); spf=pass',
    'Authentication-Results: "mx.example"; spf=pass',
    'Authentication-Results: "mx\\.example"; spf=pass',
    'Authentication-Results:\r\n\tmx.example;\r\n spf=pass',
    'Authentication-Results\r\n : mx.example; spf=pass',
    'Authentication-Results: mx.example.; spf=pass',
    'Authentication-Results: mx.example',
  ])('are removed if in our name: %j', (forged) => {
    expect(stripped(mail('Subject: a', forged, 'To: b', '', forged))).toBe(`Subject: a\r\nTo: b\r\n\r\n${forged}\r\n`)
  })

  test.each([
    'Authentication-Results: other.example; spf=pass (mx.example)',
    'Authentication-Results: xmx.example; spf=pass',
    'Authentication-Results: mx.example.evil.example; spf=pass',
    'X-Authentication-Results: mx.example; spf=pass',
    'Authentication-Results-Original: mx.example; spf=pass',
    'ARC-Authentication-Results: i=1; mx.example; spf=pass',
    'Subject: x\r\n Authentication-Results: mx.example; spf=pass',
    'Authentication-Results: ; spf=pass',
  ])('are kept: %j', (field) => {
    const raw = mail('Subject: a', field, '', 'body')
    expect(without(raw, ownResultRanges(raw, 'mx.example'))).toBe(raw)
  })

  // threat: forged-authentication-results
  test('are removed at the end of a very large header too', () => {
    const junk = Array.from({ length: 50_000 }, (_, at) => `X-${at}: junk and more junk`)
    const raw = mail(...junk, 'Authentication-Results: mx.example; spf=pass', '', 'body')
    expect(ownResultRanges(raw, 'mx.example')).toHaveLength(1)
  })

  test('are read without an error in truncated mail', () => {
    const raw = mail('A: b', 'Authentication-Results: (mx.example "; spf=pass', 'Authentication-Results: mx.example')
    for (let end = 0; end <= raw.length; end++) ownResultRanges(raw.subarray(0, end), 'mx.example')
    expect(ownResultRanges(raw.subarray(0, -2), 'mx.example')).toHaveLength(1)
  })
})
