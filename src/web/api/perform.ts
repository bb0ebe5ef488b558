import { type Authentication, type Caller, unauthorized } from './authentication.ts'
import type { ApiResponse, Call, MakeRemember, Operation } from './operation.ts'
import type { Params } from './route-table.ts'

/** Who calls, and when. */
export interface CallOrigin extends Pick<Caller, 'key' | 'user' | 'maker'> {
  requestId: string
  now: number
  /** The request that the client sent. An RPC API makes the request of the operation from its body. */
  sent: Request
}

/** Request of an operation, path parameters and origin → the call. */
export function createCall(
  request: Request,
  params: Params,
  { key, user, maker, requestId, now, sent }: CallOrigin,
  authentication: Pick<Authentication, 'isStillValid'>,
): Call {
  // The router sets a path segment with invalid percent-encoding to null. The empty string matches no record.
  for (const name in params) params[name] ??= ''
  return {
    key,
    user,
    maker,
    organizationId: key.organizationId,
    requestId,
    now,
    params,
    headers: request.headers,
    get signal() {
      return request.signal
    },
    isKeyValid: () => authentication.isStillValid(sent, { key, user, maker }),
  }
}

/** HTTP, compatible APIs and the command line run an operation in three steps: loadResource, parsing the input, and
 *  runHandler. They check the permission before the first one.
 *
 *  This step loads the resource in the path into `call`. Rejects with `not_found`, `forbidden` or the error of the
 *  store, before a fault of the input is reported. */
export async function loadResource(operation: Operation, call: Call): Promise<void> {
  call.resource = await operation.load?.(call)
}

/** Runs the handler with parsed input and resolves with its response. Stores the body and the response in `call`, for
 *  the audit log. Rejects with a Refusal or the error of the store.
 *
 *  The key is checked again before, because receiving the body may take minutes in which the key may be revoked or
 *  expire. */
export async function runHandler(
  operation: Operation,
  call: Call,
  { query, body }: { query: unknown; body: unknown },
  remember: MakeRemember,
): Promise<ApiResponse> {
  const { resource } = call
  if (operation.reads !== undefined) await call.enter?.(operation.reads(resource))
  if (!(await call.isKeyValid())) throw unauthorized()
  const rememberIn: MakeRemember = (made) => {
    call.answer = made
    return remember(made)
  }
  const response = await operation.handle(Object.assign(call, { resource, query, body, remember: rememberIn }))
  call.answer = response
  return response
}
