import { lastOrganizationId, mode, organization, type SessionInfo, session } from './state.ts'

/** Every action of the dashboard is one of these calls of the public API: as the operator, for the organization that is
 *  chosen. A call that is refused throws an ApiError; when nobody is signed in (any more), the door is shown. */

// biome-ignore lint/suspicious/noExplicitAny: answers have the shapes that the OpenAPI document promises
export type Json = any

/** The one page of a list. */
export interface Paged<T = Json> {
  data: T[]
  has_more: boolean
  next_cursor: string | null
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    /** `validation_error`; `network` when there was no answer. */
    readonly code: string,
    message: string,
    /** Message by field. */
    readonly fields: Record<string, string> = {},
    readonly details: Record<string, Json> = {},
  ) {
    super(message)
  }
}

export interface Asked {
  query?: Record<string, string | number | undefined> | undefined
  body?: unknown
  /** The domain to send from, where a key would have one. */
  domain?: string
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/** `api('GET', '/v1/messages', {query})` → the body of the answer. */
export async function api<T = Json>(method: string, path: string, asked: Asked = {}): Promise<T> {
  const response = await ask(method, path, asked)
  return response.json()
}

export const get = <T = Json>(path: string, query?: Asked['query'], signal?: AbortSignal) =>
  api<T>('GET', path, { query, signal })
export const post = <T = Json>(path: string, body: unknown = {}, more: Asked = {}) =>
  api<T>('POST', path, { body, ...more })
export const patch = <T = Json>(path: string, body: unknown) => api<T>('PATCH', path, { body })
export const remove = <T = Json>(path: string) => api<T>('DELETE', path)

/** The same for what is no JSON: the text of a mail. */
export async function getText(path: string, query?: Asked['query'], signal?: AbortSignal): Promise<string> {
  return (await ask('GET', path, { query, signal })).text()
}

/** The answer as it comes, for streams. Throws as the others do. */
export async function ask(method: string, path: string, asked: Asked = {}): Promise<Response> {
  const { query = {}, body, domain, signal } = asked
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  const headers: Record<string, string> = { 'x-operator': '1', 'x-mode': mode.peek(), ...asked.headers }
  const chosen = organization.peek()
  if (chosen !== null && path.startsWith('/v1/')) headers['x-organization'] = chosen.id
  if (domain !== undefined) headers['x-domain'] = domain
  if (body !== undefined) headers['content-type'] = 'application/json'
  const request: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' }
  if (body !== undefined) request.body = JSON.stringify(body)
  if (signal !== undefined) request.signal = signal
  const response = await fetch(search === '' ? path : `${path}?${search}`, request).catch((thrown: unknown) => {
    if (signal?.aborted) throw thrown
    throw new ApiError(0, 'network', 'The server cannot be reached. Is it running?')
  })
  if (response.ok) return response
  throw await refused(response)
}

async function refused(response: Response): Promise<ApiError> {
  const { error } = (await response.json().catch(() => ({}))) as Json
  if (response.status === 401 && session.peek()) session.value = null
  const fields = Object.fromEntries((error?.errors ?? []).map((each: Json) => [each.field, each.message]))
  if (error?.field !== undefined) fields[error.field] ??= error.message
  const message = error?.message ?? `The server answered ${response.status}.`
  return new ApiError(response.status, error?.code ?? 'unknown', sentence(message), fields, error?.details)
}

/** Looks who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    session.value = await withLast(await api<SessionInfo>('GET', '/session'))
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.status === 401) session.value = null
    else throw thrown
  }
}

/** The session names the newest hundred organizations: the one that was chosen may be another. */
async function withLast(found: SessionInfo): Promise<SessionInfo> {
  const id = lastOrganizationId()
  if (!found.has_more_organizations || id === '' || found.organizations.some((each) => each.id === id)) return found
  const last = await get(`/v1/organizations/${id}`).catch(() => null)
  return last === null ? found : { ...found, organizations: [...found.organizations, last] }
}

export async function signIn(by: { token: string } | { password: string }): Promise<void> {
  session.value = await withLast(await post<SessionInfo>('/session', by))
}

export async function signOut(): Promise<void> {
  await remove('/session')
  session.value = null
}

/** What went wrong, in words. */
export function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** A text or bytes → a file that the browser saves. */
export function save(name: string, type: string, content: string | Blob): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
