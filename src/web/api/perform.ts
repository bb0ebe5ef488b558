import { type Authentication, type Caller, unauthorized } from './authentication.ts'
import type { ApiResponse, Call, MakeRemember, Operation } from './operation.ts'
import type { Params } from './route-table.ts'

/** Input of an operation. perform calls each function only when that part is needed. */
export interface OperationInput {
  /** Returns the parsed query. Throws `validation_error`. */
  query: () => unknown
  /** Returns the parsed body, or a promise for a large body. Throws `validation_error`. */
  body: () => unknown
  remember: MakeRemember
}

/** Request, path parameters and caller → the call for perform. */
export function createCall(
  request: Request,
  params: Params,
  { key, user, maker, requestId, now }: Pick<Caller, 'key' | 'user' | 'maker'> & { requestId: string; now: number },
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
    isKeyValid: () => authentication.isStillValid(request, { key, user, maker }),
  }
}

/** Runs an operation and resolves with its response: loads the resource in the path, parses query and body, then calls
 *  the handler. The caller has already checked the permission. HTTP, compatible APIs and the command line all use it.
 *
 *  The key is checked again before the handler runs, because receiving the body may take minutes in which the key may
 *  be revoked or expire. Stores the resource, the body and the response in `call`, for the audit log. Rejects with a
 *  Refusal or the error of the store. */
export async function perform(
  operation: Operation,
  call: Call,
  { query, body, remember }: OperationInput,
): Promise<ApiResponse> {
  const resource = operation.load === undefined ? undefined : await operation.load(call)
  call.resource = resource
  const parsedQuery = query()
  const parsedBody = body()
  if (operation.reads !== undefined) await call.enter?.(operation.reads(resource))
  const parts = {
    resource,
    query: parsedQuery,
    body: parsedBody instanceof Promise ? await parsedBody : parsedBody,
  }
  if (!(await call.isKeyValid())) throw unauthorized()
  const response = await operation.handle(
    Object.assign(call, parts, {
      remember: (made: ApiResponse) => {
        call.answer = made
        return remember(made)
      },
    }),
  )
  call.answer = response
  return response
}
