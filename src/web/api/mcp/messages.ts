import { isRecord } from '../../../os/records.ts'
import { JSON_TYPE, type Rendered } from '../rendered-response.ts'

/** A JSON-RPC 2.0 request. */
export interface RpcMessage {
  id: string | number
  method: string
  params: Record<string, unknown>
}

/** Parsed body → the request in it; `nothing` for a notification and for a response, to which there is no reply; `fault`
 *  for anything else, such as a batch, which MCP does not have since its version 2025-06-18. */
export function readMessage(value: unknown): RpcMessage | 'nothing' | 'fault' {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return 'fault'
  const { id, method, params = {} } = value
  if (method === undefined) return isId(id) && ('result' in value || 'error' in value) ? 'nothing' : 'fault'
  if (typeof method !== 'string' || !isRecord(params)) return 'fault'
  if (!('id' in value)) return 'nothing'
  return isId(id) ? { id, method, params } : 'fault'
}

/** MCP has no null as an ID. The reply repeats the ID, so its length is limited. */
function isId(id: unknown): id is string | number {
  return (typeof id === 'string' && id.length <= LONGEST_ID) || Number.isSafeInteger(id)
}

const LONGEST_ID = 256

/** Error codes of JSON-RPC 2.0 §5.1; `refused` is one of those for servers. */
const RPC_ERRORS = {
  unreadable: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  refused: -32000,
} as const

/** ID of a request and its result → the response. */
export function succeeded(id: string | number, result: unknown): Rendered {
  return rendered(200, { jsonrpc: '2.0', id, result })
}

/** ID of a request, or null if it is not known → the JSON-RPC error. */
export function failure(
  id: string | number | null,
  code: keyof typeof RPC_ERRORS,
  message: string,
  data?: { code: string },
) {
  return { jsonrpc: '2.0', id, error: { code: RPC_ERRORS[code], message, ...(data !== undefined && { data }) } }
}

/** Status and body → response. An empty body means none. */
export function rendered(status: number, body: unknown): Rendered {
  return { status, body: body === '' ? '' : JSON.stringify(body), contentType: JSON_TYPE, headers: undefined }
}
