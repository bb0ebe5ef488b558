/** The client for TypeScript and JavaScript, for Node from 20.3, Bun and Deno. It uses only APIs that all of them
 *  have. */
export type { Api } from './api.ts'
export type { ApiCamel } from './api-camel.ts'
export { Call, type CallOptions, type KeyedOptions, type Result, type SendOptions } from './call.ts'
export type { Camel } from './camel.ts'
export type { Clock } from './clock.ts'
export {
  AbortError,
  ConflictError,
  ConnectionError,
  DomainNotVerifiedError,
  type ErrorCode,
  type FieldError,
  ForbiddenError,
  InternalError,
  InvalidStateError,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  PostriderError,
  QuotaExceededError,
  RateLimitedError,
  RequestTimeoutError,
  TemplateError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
  UnexpectedAnswerError,
  ValidationError,
} from './errors.ts'
export { EventStream } from './event-stream.ts'
export { type Page, Pages } from './pages.ts'
export { Postrider, type PostriderCamel, type PostriderOptions } from './postrider.ts'
export type { TypedTemplates } from './typed-templates.ts'
export type * from './types.ts'
export {
  type HeadersLike,
  type UnwrapOptions,
  unwrap,
  type VerificationFault,
  type WebhookEvent,
  WebhookVerificationError,
} from './unwrap.ts'
export type { Fetch } from './wire.ts'
