import { toALabel } from '../../mail/address.ts'
import { isRecord } from '../../os/records.ts'
import type { Store } from '../../storage/store.ts'
import type { Operation } from './operation.ts'

type Domains = Pick<Store['domains'], 'findOf'>

/** Operation → the same operation, where `domain_id` in the path, query or body may also be the name of a domain of the
 *  organization. A name that it does not have stays, and no ID matches it. */
export function withDomainNames(operation: Operation, domains: Domains): Operation {
  const { load, handle } = operation
  const named: Operation = {
    ...operation,
    async handle(call) {
      const [query, body] = await Promise.all(
        [call.query, call.body].map((fields: unknown) => withId(fields, call.organizationId, domains)),
      )
      return handle(Object.assign(call, { query, body }))
    },
  }
  if (load === undefined) return named
  named.load = async (call) => {
    // The parameters have only texts, and so has the result.
    call.params = (await withId(call.params, call.organizationId, domains)) as Record<string, string>
    return load(call)
  }
  return named
}

async function withId(fields: unknown, organizationId: string, domains: Domains): Promise<unknown> {
  if (!isRecord(fields) || typeof fields.domain_id !== 'string') return fields
  const name = fields.domain_id
  // No ID has a dot, and every name has one.
  if (!name.includes('.') || name.length > LONGEST_NAME) return fields
  const domain = await domains.findOf(organizationId, toALabel(name.replace(/\.$/, '')) ?? name.toLowerCase())
  return domain === null ? fields : { ...fields, domain_id: domain.id }
}

const LONGEST_NAME = 254 // RFC 1035 §2.3.4, and a final dot
