import { describe, expect, test } from 'bun:test'
import { type FieldFault, Refusal, type RefusalReason } from '../../../model/refusal.ts'
import { refuse } from './errors.ts'

const requestTo = (path: string, headers: Record<string, string> = {}) =>
  new Request(`https://mail.example.com/compat/resend${path}`, { headers })
const answerTo = (refusal: Refusal, request = requestTo('/emails')) => {
  const { status, body } = refuse(refusal, request)
  const { statusCode, name, message } = body as { statusCode: number; name: string; message: string }
  expect(statusCode).toBe(status)
  return [status, name, message]
}
const faulty = (...faults: FieldFault[]) => new Refusal('validation_error', 'invalid', { faults })

describe('a refusal in the form of Resend', () => {
  const reasons: [RefusalReason, number, string][] = [
    ['method_not_allowed', 405, 'method_not_allowed'],
    ['not_found', 404, 'not_found'],
    ['conflict', 409, 'validation_error'],
    ['payload_too_large', 413, 'validation_error'],
    ['request_timeout', 408, 'application_error'],
    ['domain_not_verified', 403, 'validation_error'],
    ['template_error', 422, 'validation_error'],
    ['quota_exceeded', 429, 'monthly_quota_exceeded'],
    ['invalid_state', 422, 'validation_error'],
    ['rate_limited', 429, 'rate_limit_exceeded'],
    ['internal_error', 500, 'internal_server_error'],
    ['unavailable', 503, 'application_error'],
    ['validation_error', 422, 'validation_error'],
  ]
  test.each(reasons)('%s is %d %s', (reason, status, name) => {
    expect(answerTo(new Refusal(reason, 'What to do.'))).toEqual([status, name, 'What to do.'])
  })

  const details: [RefusalReason, Record<string, unknown>, number, string][] = [
    ['conflict', { reason: 'idempotency_key_reused' }, 409, 'invalid_idempotent_request'],
    ['conflict', { reason: 'request_in_progress' }, 409, 'concurrent_idempotent_requests'],
    ['conflict', { reason: 'other' }, 409, 'validation_error'],
    ['forbidden', { required: ['send'] }, 401, 'restricted_api_key'],
    ['forbidden', { not_grantable: ['manage'] }, 401, 'restricted_api_key'],
    ['quota_exceeded', { resets_at: null }, 403, 'validation_error'],
    ['quota_exceeded', { resets_at: '2026-12-01T00:00:00Z' }, 429, 'monthly_quota_exceeded'],
  ]
  test.each(details)('%s with %j is %d %s', (reason, extra, status, name) => {
    expect(answerTo(new Refusal(reason, 'What to do.', { details: extra }))).toEqual([status, name, 'What to do.'])
  })

  const fields: [string, string, number, string][] = [
    ['body', 'is no JSON', 400, 'validation_error'],
    ['Content-Type', 'is wrong', 400, 'validation_error'],
    ['Content-Encoding', 'is wrong', 400, 'validation_error'],
    ['Idempotency-Key', 'is too long', 400, 'invalid_idempotency_key'],
    ['from', 'from is required', 422, 'missing_required_field'],
    ['from', 'from is wrong', 422, 'invalid_from_address'],
    ['attachments.0.content', 'is wrong', 422, 'invalid_attachment'],
    ['permission', 'is wrong', 422, 'invalid_access'],
    ['region', 'is wrong', 422, 'invalid_region'],
    ['subject', 'is wrong', 422, 'validation_error'],
  ]
  test.each(fields)('a fault of %s that %p is %d %s', (field, message, status, name) => {
    expect(answerTo(faulty({ field, message }))).toEqual([status, name, message])
    expect(answerTo(new Refusal('validation_error', message, { field }))).toEqual([status, name, message])
  })

  test('has the first fault as name and all of them as message', () => {
    const faults = [
      { field: 'from', message: 'from is wrong' },
      { field: 'region', message: 'region is wrong' },
    ]
    expect(answerTo(faulty(...faults))).toEqual([422, 'invalid_from_address', 'from is wrong; region is wrong'])
  })

  test('reports a record of another organization as missing, and a forbidden field as forbidden', () => {
    expect(answerTo(new Refusal('forbidden', 'x'))).toEqual([404, 'not_found', 'No such resource. Check the ID.'])
    expect(answerTo(new Refusal('forbidden', 'x', { field: 'from' }))).toEqual([403, 'validation_error', 'x'])
  })

  test('distinguishes a missing key, a wrong key and a key of resend.com', () => {
    const refusal = new Refusal('unauthorized', 'wrong')
    const withKey = (key: string) => requestTo('/emails', { authorization: `Bearer ${key}` })
    expect(answerTo(refusal)).toEqual([401, 'missing_api_key', 'wrong'])
    expect(answerTo(refusal, withKey('svc_live_x'))).toEqual([401, 'invalid_api_key', 'wrong'])
    expect(answerTo(refusal, withKey('re_123'))).toEqual([
      401,
      'invalid_api_key',
      'This is a resend.com key. Use a key of this server; it starts with svc_live_ or svc_test_.',
    ])
    expect(answerTo(new Refusal('not_found', 'gone'), withKey('re_123'))[2]).toBe('gone')
  })

  test('says that a part of the API is not supported, after the checks that come first', () => {
    const unsupported = requestTo('/broadcasts?limit=1')
    expect(answerTo(new Refusal('validation_error', 'x'), unsupported).slice(0, 2)).toEqual([404, 'not_found'])
    expect(answerTo(new Refusal('validation_error', 'x'), unsupported)[2]).toStartWith('Broadcasts are not')
    for (const reason of ['unauthorized', 'rate_limited', 'internal_error', 'unavailable'] as const)
      expect(answerTo(new Refusal(reason, 'first'), unsupported)[2]).toBe('first')
    const unknown = new Refusal('not_found', 'No such path. See /docs for all paths.')
    expect(answerTo(unknown, requestTo('/nothing'))[2]).toStartWith('This part of Resend’s API is not supported.')
  })
})
