import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { Encryption } from '../encryption.ts'
import { decryptHeaders } from '../endpoint-headers.ts'
import { rows, sql, type Work } from '../sql.ts'

/** A webhook or a route with a URL, as it is in memory. */
export interface Endpoint {
  id: string
  url: string
  headerNames: readonly string[]
}

const HEADERS = { webhooks: headersIn('webhooks'), inbound_routes: headersIn('inbound_routes') }

/** Endpoints of posts that are claimed → the headers of those that have some, by ID. They are read now, since ten of them
 *  can be larger than everything else that is in memory of an endpoint. Without any, nothing is read. Throws
 *  EncryptionKeyUnusable if some were encrypted with another key. */
export function* headersOf(
  table: keyof typeof HEADERS,
  endpoints: readonly Endpoint[],
  encryption: Encryption,
): Work<ReadonlyMap<string, EndpointHeaders>> {
  const urls = new Map<string, string>()
  for (const { id, url, headerNames } of endpoints) if (headerNames.length > 0) urls.set(id, url)
  if (urls.size === 0) return NONE
  const found = yield* rows(HEADERS[table], [...urls.keys()])
  return new Map(
    found.map(({ id, headers }) => {
      return [id, decryptHeaders(headers, { url: urls.get(id) ?? '', place: `${table} ${id}`, encryption })]
    }),
  )
}

const NONE: ReadonlyMap<string, EndpointHeaders> = new Map()

function headersIn(table: string) {
  return sql<{ id: string; headers: Uint8Array | null }>(`select id, headers from ${table} where id = any($1::text[])`)
}
