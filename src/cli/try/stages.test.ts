import { expect, test } from 'bun:test'
import type { Attempt } from '../../client/types.ts'
import { colorsFor } from '../print.ts'
import type { ArrivedMail } from './mail-server.ts'
import { deliveryStages, mailStages, webhookStage } from './stages.ts'
import type { ArrivedCall } from './webhook-receiver.ts'

const colors = colorsFor({}, false)
const ATTEMPT: Attempt = {
  recipient: 'ann@shop.example',
  number: 1,
  started_at: '2026-11-23T10:00:00.000Z',
  duration_ms: 1_000,
  outcome: 'delivered',
  mx_host: 'mx.shop.example',
  mx_ip: '127.0.0.1',
  source_ip: null,
  relay: null,
  tls_version: 'TLSv1.3',
  tls_cipher: null,
  tls_verified: false,
  tls_policy: 'none',
  smtp_response: '250 2.0.0 accepted',
  enhanced_code: '2.0.0',
  cause: null,
  transcript: '',
}
const MAIL: ArrivedMail = {
  at: 1_250,
  returnPath: 'bounce@us.example',
  recipients: ['ann@shop.example'],
  from: 'us@us.example',
  subject: 'Hello',
  messageId: '<1@us.example>',
  sizeBytes: 2_048,
  tls: 'TLSv1.3',
  dkim: [
    { selector: 'r', algorithm: 'rsa-sha256', result: 'pass', comment: null },
    { selector: 'e', algorithm: 'ed25519-sha256', result: 'pass', comment: null },
  ],
}
const CALL: ArrivedCall = {
  at: 1_400,
  eventId: 'evt_1',
  type: 'message.delivered',
  data: { message_id: 'msg_1', to: 'ann@shop.example' },
  attempt: '1',
  serviceSignature: 'valid',
  standardSignature: 'valid',
  forwarded: null,
}
const mail = (change: Partial<ArrivedMail> | null) =>
  mailStages(change && { ...MAIL, ...change }, { mailServer: '127.0.0.1:25', sentAt: 1_000, colors })
const webhook = (change: Partial<ArrivedCall> | null) =>
  webhookStage(change && { ...CALL, ...change }, { messageId: 'msg_1', url: 'https://hooks', sentAt: 1_000, colors })

test('a delivered attempt shows host, address, reply and TLS', () => {
  expect(deliveryStages(ATTEMPT, 'shop.example')).toEqual([
    { name: 'MX', ok: true, detail: 'shop.example → mx.shop.example (127.0.0.1)', ms: null },
    { name: 'delivered', ok: true, detail: '250 2.0.0 accepted over TLSv1.3', ms: null },
  ])
})

test('a failed attempt shows its outcome and reply', () => {
  const deferred = { ...ATTEMPT, outcome: 'deferred' as const, smtp_response: '451 later', tls_version: null }
  expect(deliveryStages(deferred, 'shop.example')[1]).toEqual({
    name: 'delivered',
    ok: false,
    detail: 'the attempt is deferred: 451 later over an unencrypted connection',
    ms: null,
  })
})

test('without an attempt both stages of the delivery fail', () => {
  expect(deliveryStages(undefined, 'shop.example')).toEqual([
    { name: 'MX', ok: false, detail: 'no attempt with an MX host was recorded', ms: null },
    { name: 'delivered', ok: false, detail: 'no attempt was recorded', ms: null },
  ])
})

test('an arrived mail passes with two valid signatures', () => {
  expect(mail({})).toEqual([
    { name: 'mail', ok: true, detail: '“Hello” from us@us.example, 2.0 KiB, TLSv1.3', ms: 250 },
    { name: 'signatures', ok: true, detail: 'DKIM rsa-sha256 r pass, ed25519-sha256 e pass', ms: null },
  ])
  expect(mail({ tls: null })[0]?.detail).toEndWith(', no TLS')
})

test('a missing or invalid signature fails its stage and is named', () => {
  const [rsa, ed25519] = MAIL.dkim
  const invalid = { ...ed25519!, result: 'fail', comment: 'bad signature' }
  expect(mail({ dkim: [rsa!, invalid] })[1]).toMatchObject({
    ok: false,
    detail: 'DKIM rsa-sha256 r pass, ed25519-sha256 e fail (bad signature); missing a valid ed25519-sha256 signature',
  })
  expect(mail({ dkim: [] })[1]?.detail).toEndWith('missing a valid rsa-sha256 and ed25519-sha256 signature')
})

test('a mail that does not arrive is one failed stage', () => {
  const detail = 'no mail arrived at 127.0.0.1:25 within 5.0 s'
  expect(mail(null)).toEqual([{ name: 'mail', ok: false, detail, ms: null }])
})

test('the webhook stage passes for the event of this message with two valid signatures', () => {
  const detail = 'message.delivered for ann@shop.example, X-Service-Signature valid, webhook-signature valid'
  expect(webhook({})).toEqual({ name: 'webhook', ok: true, detail, ms: 400 })
})

test.each([
  [{ serviceSignature: 'invalid' }, 'X-Service-Signature invalid'],
  [{ standardSignature: 'invalid' }, 'webhook-signature invalid'],
  [{ data: { message_id: 'msg_2', to: 'ann@shop.example' } }, 'message.delivered of a different message for'],
])('the webhook stage fails for %j', (change, part) => {
  const stage = webhook(change)
  expect(stage.ok).toBe(false)
  expect(stage.detail).toContain(part)
})

test('an event that does not arrive fails the webhook stage', () => {
  const detail = 'no message.delivered event arrived at https://hooks within 5.0 s'
  expect(webhook(null)).toEqual({ name: 'webhook', ok: false, detail, ms: null })
})
