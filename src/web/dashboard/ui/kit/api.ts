import { hasEnded, lastOrganizationId, mode, organization, type SessionInfo, session } from './state.ts'

/** The dashboard does everything through the public API, as the operator and for the selected organization. A failed
 *  call throws ApiError. If the session has ended, the sign-in page appears. */

// biome-ignore lint/suspicious/noExplicitAny: responses have the shapes of the OpenAPI document
export type Json = any

/** One page of a list. */
export interface Paged<T = Json> {
  data: T[]
  has_more: boolean
  next_cursor: string | null
}

/** An error response of the API, or a request without a response (status 0, code `network`). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** `error.code` of the API, such as `validation_error`. */
    readonly code: string,
    message: string,
    /** Error messages by field name. */
    readonly fields: Record<string, string> = {},
    readonly details: Record<string, Json> = {},
  ) {
    super(message)
  }
}

export interface CallOptions {
  query?: Record<string, string | number | undefined> | undefined
  body?: unknown
  /** ID of the sending domain. An API key would imply it; an operator has to name it. */
  domain?: string
  headers?: Record<string, string>
  /** Selects no organization: operators get the records of all. */
  isForAll?: boolean | undefined
  signal?: AbortSignal | undefined
}

/** Calls the API and returns the parsed body: `api('GET', '/v1/messages', {query})`. Throws ApiError. */
export async function api<T = Json>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await request(method, path, options)
  return response.json()
}

/** `get('/v1/messages', {limit: 1})`; the others likewise. They return the parsed body and throw ApiError. */
export const get = <T = Json>(path: string, query?: CallOptions['query'], signal?: AbortSignal) =>
  api<T>('GET', path, { query, signal })
export const post = <T = Json>(path: string, body: unknown = {}, more: CallOptions = {}) =>
  api<T>('POST', path, { body, ...more })
export const patch = <T = Json>(path: string, body: unknown, more: CallOptions = {}) =>
  api<T>('PATCH', path, { body, ...more })
export const remove = <T = Json>(path: string, more: CallOptions = {}) => api<T>('DELETE', path, more)

/** Like `get`, for responses that are not JSON, such as the text of a message. */
export async function getText(path: string, query?: CallOptions['query'], signal?: AbortSignal): Promise<string> {
  return (await request('GET', path, { query, signal })).text()
}

/** Returns the response before its body is read, for streams and files. Omits undefined and empty query parameters.
 *  Throws ApiError, and AbortError if `signal` aborts. */
export async function request(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const { query = {}, body, domain, signal } = options
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  const headers: Record<string, string> = { 'x-operator': '1', ...selected(), ...options.headers }
  if (options.isForAll || !path.startsWith('/v1/')) delete headers['x-organization']
  if (domain !== undefined) headers['x-domain'] = domain
  if (body !== undefined) headers['content-type'] = 'application/json'
  const init: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' }
  if (body !== undefined) init.body = JSON.stringify(body)
  if (signal !== undefined) init.signal = signal
  const by = session.peek()
  const response = await fetch(search === '' ? path : `${path}?${search}`, init).catch((thrown: unknown) => {
    if (signal?.aborted) throw thrown
    throw new ApiError(0, 'network', 'Cannot reach the server. Check that it is running.')
  })
  if (response.ok) return response
  throw await errorOf(response, by)
}

/** Headers with the mode and the organization that are selected now, for several requests that belong together: the user may
 *  select others before the last one. */
export function selected(): Record<string, string> {
  const chosen = organization.peek()
  return { 'x-mode': mode.peek(), ...(chosen && { 'x-organization': chosen.id }) }
}

/** `by` is the session at the request: its answer may come after the user has signed in again. */
async function errorOf(response: Response, by: SessionInfo | null | undefined): Promise<ApiError> {
  const { error }: Json = await response.json().catch(() => ({}))
  if (response.status === 401 && by && session.peek()?.session.id === by.session.id) {
    hasEnded.value = true
    session.value = null
  }
  const faults: Json[] = [...(error?.field === undefined ? [] : [error]), ...(error?.errors ?? [])]
  const fields = Object.fromEntries(faults.map(({ field, message }) => [field, sentence(withoutField(message, field))]))
  const message = error?.message ?? `The server returned ${response.status}.`
  return new ApiError(response.status, error?.code ?? 'unknown', sentence(message), fields, error?.details)
}

/** Loads the session into the `session` signal; null if nobody is signed in. Throws ApiError for other errors. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await withLast(await api<SessionInfo>('GET', '/session'))
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 401) session.value = null
    else throw thrown
  }
}

/** Adds the organization selected last: the response lists only the 100 newest organizations. */
async function withLast(found: SessionInfo): Promise<SessionInfo> {
  const id = lastOrganizationId()
  if (!found.has_more_organizations || id === '' || found.organizations.some((each) => each.id === id)) return found
  const last = await get(`/v1/organizations/${id}`).catch(() => null)
  return last === null ? found : { ...found, organizations: [...found.organizations, last] }
}

/** Signs in with the token of a link, or with email address and password. Resolves with null, or with the token of the
 *  second step if the server asks for a code. Throws ApiError if the server rejects it. */
export async function signIn(by: { token: string } | { email?: string; password: string }): Promise<string | null> {
  const answer = await post('/session', by)
  if (answer.two_step !== undefined) return answer.two_step.token
  session.value = await withLast(answer)
  return null
}

/** Signs in with the code of an app or a recovery code, or with the answer of a passkey (passkeys.ts), or sets the own
 *  password, which begins a new session. Throws ApiError if the server rejects it. */
export async function signInBy(
  path: '/session/code' | '/session/passkey' | '/session/password',
  body: Json,
): Promise<void> {
  session.value = await withLast(await post<SessionInfo>(path, body))
}

/** Ends the session, which shows the sign-in page. Throws ApiError. */
export async function signOut(): Promise<void> {
  await remove('/session')
  session.value = null
}

/** The message of a thrown value. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Downloads content as a file with this name and media type. */
export function save(name: string, type: string, content: string | Blob): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Text of an error without the name of its field, and of a URL its reason alone: the form shows it below the label. */
const withoutField = (message: string, field: string) =>
  (message.startsWith(`${field} `) ? message.slice(field.length + 1) : message).replace(/^is not accepted: /, '')

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
