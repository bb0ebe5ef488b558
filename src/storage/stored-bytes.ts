import { INBOUND_BYTES } from '../model/stored-bytes.ts'

/** SQL: what a row of `inbound_messages` counts. Its mail is stored with its parsed form. */
export const STORED_BYTES_OF_INBOUND = `2 * size_bytes + ${INBOUND_BYTES}`
/** SQL: what a row of `template_versions` counts. */
export const STORED_BYTES_OF_TEMPLATE = `coalesce(octet_length(subject), 0) + coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0) + coalesce(octet_length(extra), 0)`
