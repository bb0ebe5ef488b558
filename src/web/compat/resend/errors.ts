import type { FieldFault, Refusal, RefusalReason } from '../../../model/refusal.ts'
import { notSupported } from './not-supported.ts'

/** Our refusal → Resend's `{statusCode, name, message}`. Names are those of its package's types; `message` is ours,
 *  because it says what to do. */
export function refuse(refusal: Refusal, request: Request): { status: number; body: unknown } {
  const unsupported = ANSWERED_FIRST.has(refusal.reason) ? null : notSupported(pathOf(request))
  if (unsupported !== null) return { status: 404, body: { statusCode: 404, name: 'not_found', message: unsupported } }
  const [status, name] = nameOf(refusal, request)
  return { status, body: { statusCode: status, name, message: messageOf(refusal, request) } }
}

/** These are checked before the path. */
const ANSWERED_FIRST: ReadonlySet<RefusalReason> = new Set([
  'unauthorized',
  'rate_limited',
  'internal_error',
  'unavailable',
])

/** Path under the root. */
function pathOf({ url }: Request): string {
  return /\/compat\/resend(\/[^?#]*)/.exec(url)?.[1] ?? ''
}

/** For cases without an entry below. */
const NAMES: Record<RefusalReason, [status: number, name: string]> = {
  unauthorized: [401, 'invalid_api_key'],
  forbidden: [403, 'validation_error'],
  validation_error: [422, 'validation_error'],
  not_found: [404, 'not_found'],
  method_not_allowed: [405, 'method_not_allowed'],
  conflict: [409, 'validation_error'],
  payload_too_large: [413, 'validation_error'],
  request_timeout: [408, 'application_error'],
  domain_not_verified: [403, 'validation_error'],
  template_error: [422, 'validation_error'],
  quota_exceeded: [429, 'monthly_quota_exceeded'],
  invalid_state: [422, 'validation_error'],
  rate_limited: [429, 'rate_limit_exceeded'],
  internal_error: [500, 'internal_server_error'],
  unavailable: [503, 'application_error'],
}

function nameOf(refusal: Refusal, request: Request): [status: number, name: string] {
  const { reason, field, details } = refusal
  switch (reason) {
    case 'unauthorized':
      return request.headers.has('authorization') ? NAMES.unauthorized : [401, 'missing_api_key']
    case 'forbidden':
      if (details?.required !== undefined || details?.not_grantable !== undefined) return [401, 'restricted_api_key']
      return field === undefined ? NAMES.not_found : NAMES.forbidden // another organization's record: reported as missing
    case 'validation_error':
      return faultName(refusal.faults?.[0] ?? { field: field ?? '', message: refusal.message })
    case 'conflict':
      if (details?.reason === 'idempotency_key_reused') return [409, 'invalid_idempotent_request']
      return details?.reason === 'request_in_progress' ? [409, 'concurrent_idempotent_requests'] : NAMES.conflict
    case 'quota_exceeded':
      return details?.resets_at === null ? [403, 'validation_error'] : NAMES.quota_exceeded // domains have no monthly limit
    default:
      return NAMES[reason]
  }
}

/** Resend's error names for individual fields. */
function faultName({ field, message }: FieldFault): [status: number, name: string] {
  if (field === 'body' || field === 'Content-Type' || field === 'Content-Encoding') return [400, 'validation_error']
  if (field === 'Idempotency-Key') return [400, 'invalid_idempotency_key']
  if (message.endsWith(' is required')) return [422, 'missing_required_field']
  if (field === 'from') return [422, 'invalid_from_address']
  if (field.startsWith('attachments')) return [422, 'invalid_attachment']
  if (field === 'permission') return [422, 'invalid_access']
  if (field === 'region') return [422, 'invalid_region']
  return NAMES.validation_error
}

function messageOf({ reason, message, faults, field, details }: Refusal, request: Request): string {
  if (reason === 'unauthorized' && /^bearer +re_/i.test(request.headers.get('authorization') ?? '')) {
    return 'This is a resend.com key. Use a key of this server; it starts with svc_live_ or svc_test_.'
  }
  if (reason === 'forbidden' && field === undefined && details === undefined) return 'No such resource. Check the ID.'
  if (reason === 'not_found' && message === NOTHING_HERE) {
    return 'This part of Resend’s API is not supported. The manual’s page on migration lists the supported methods; /docs describes /v1.'
  }
  return faults === undefined ? message : faults.map((fault) => fault.message).join('; ')
}

/** Message of the HTTP API for an unknown path. */
const NOTHING_HERE = 'No such path. See /docs for all paths.'
