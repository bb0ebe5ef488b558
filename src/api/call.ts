import type { ApiKey } from '../model/api-key.ts'
import type { Call } from './operation.ts'
import type { Params } from './route-table.ts'

/** A request and who asks → what its handler gets. `holds`: whether he would still be let in. */
export function createCall(
  request: Request,
  params: Params,
  key: ApiKey,
  requestId: string,
  now: number,
  holds: () => boolean,
): Call {
  // A segment that is not decodable comes as null; it names nothing.
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
