import type { ApiKey } from '../model/api-key.ts'
import type { Call } from './operation.ts'
import type { Params } from './route-table.ts'

/** Request and caller → the handler's input. `holds`: whether the key would still be accepted. */
export function createCall(
  request: Request,
  params: Params,
  key: ApiKey,
  requestId: string,
  now: number,
  holds: () => boolean,
): Call {
  // A segment that cannot be decoded becomes null and matches nothing.
  for (const name in params) params[name] ??= ''
  return {
    key,
    organizationId: key.organizationId,
    requestId,
    now,
    params,
    headers: request.headers,
    get signal() {
      return request.signal
    },
    holds,
  }
}
