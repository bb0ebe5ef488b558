import type { EndpointHeaders } from '../../model/endpoint-headers.ts'
import type { Encryption } from '../encryption.ts'
import { decryptHeaders } from '../endpoint-headers.ts'
import { textArray } from './arrays.ts'
import type { Queries } from './transactions.ts'

/** A webhook or a route with a URL, as it is in memory. */
export interface Endpoint {
  id: string
  url: string
  headerNames: readonly string[]
}

/** Endpoints of posts that are claimed → the headers of those that have some, by ID. They are read now, since ten of them
 *  can be larger than everything else that is in memory of an endpoint. Without any, there is no query. */
export async function readHeaders(
  { query }: Queries,
  table: 'webhooks' | 'inbound_routes',
  endpoints: readonly Endpoint[],
  encryption: Encryption,
): Promise<ReadonlyMap<string, EndpointHeaders>> {
  const urls = new Map(endpoints.flatMap(({ id, url, headerNames }) => (headerNames.length === 0 ? [] : [[id, url]])))
  if (urls.size === 0) return new Map()
  const rows = await query<{ id: string; headers: Uint8Array | null }>(
    `select id, headers from ${table} where id = any($1::text[])`,
    [textArray([...urls.keys()])],
  )
  return new Map(
    rows.map(({ id, headers }) => {
      const url = urls.get(id) ?? ''
      return [id, decryptHeaders(headers, { url, place: `${table} ${id}`, encryption })]
    }),
  )
}
