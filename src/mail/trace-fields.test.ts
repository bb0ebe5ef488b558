import { describe, expect, test } from 'bun:test'
import { receivedField, returnPathField, type Trace } from './trace-fields.ts'

const TRACE: Trace = {
  remoteAddress: '192.0.2.1',
  helo: 'mx.a.example',
  returnPath: 'a@a.example',
  recipients: ['b@b.example'],
  protocol: 'ESMTPS',
  tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
  receivedAt: Date.UTC(2026, 10, 21, 10, 12, 14),
  id: 'abc.1',
}
const unfolded = (field: string) => field.replace(/\r\n (?=\S)/g, ' ')
const received = (more: Partial<Trace>) => unfolded(receivedField('mx.b.example', { ...TRACE, ...more }))

describe('trace fields', () => {
  test('name client, server, protocol and time', () => {
    expect(received({})).toBe(
      'Received: from mx.a.example ([192.0.2.1]) by mx.b.example with ESMTPS (TLSv1.3 TLS_AES_256_GCM_SHA384) id abc.1 for <b@b.example>; Sat, 21 Nov 2026 10:12:14 +0000\r\n',
    )
    expect(received({ remoteAddress: '2001:db8::1', tls: null, recipients: ['a@b', 'c@d'], helo: '[192.0.2.1]' })).toBe(
      'Received: from [192.0.2.1] ([IPv6:2001:db8::1]) by mx.b.example with ESMTPS id abc.1; Sat, 21 Nov 2026 10:12:14 +0000\r\n',
    )
    expect(returnPathField('')).toBe('Return-Path: <>\r\n')
    expect(returnPathField('"a b"@ü.example')).toBe('Return-Path: <"a b"@ü.example>\r\n')
  })

  test('contain no clause or line added by the client', () => {
    const evil = 'x (by evil) ;\r\nX-Evil: <1>\0\x85\u2028'
    const field = received({ helo: evil, recipients: [evil], protocol: evil, tls: evil, remoteAddress: evil })
    expect(field.split('\r\n')).toHaveLength(2)
    expect(field).toStartWith('Received: from x??by?evil?????X-Evil:??1???? (')
    expect(field).toContain('for <x (by evil) ;??X-Evil: ?1????>;')
    expect(returnPathField(evil).trim()).toBe('Return-Path: <x (by evil) ;??X-Evil: ?1????>')
  })

  test('stay within the SMTP line limit for very long input', () => {
    const long = 'a'.repeat(5000)
    const lines = receivedField('mx.b.example', { ...TRACE, helo: long, recipients: [long] }).split('\r\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(998)
    expect(received({ helo: '' })).toContain('from unknown ')
  })
})
