import { z } from 'zod'
import { toALabel } from '../../../mail/address.ts'
import type { Domain } from '../../../model/domain.ts'
import { mtaStsHost } from '../../../model/domain-names.ts'
import { invalid } from '../../../model/refusal.ts'
import { HOST } from '../patterns.ts'

/** The field `tracking` of requests. */
export const trackingField = z
  .strictObject({
    opens: z.boolean().optional(),
    clicks: z.boolean().optional(),
    unsubscribe: z.boolean().optional(),
    host: z
      .string()
      .meta(HOST)
      .nullable()
      .optional()
      .describe('Host for tracked links, under the domain; null = the server’s own host.'),
  })
  .optional()

/** Tracking fields of a request → those that are present, with a validated host. Throws `validation_error`. */
export function trackingChange(given: z.infer<typeof trackingField>, domain: Domain): Partial<Domain['tracking']> {
  const host = given?.host == null ? given?.host : trackingHost(given.host, domain)
  return Object.fromEntries(Object.entries({ ...given, host }).filter(([, value]) => value !== undefined))
}

/** Host name as entered → lower-case A-labels. Throws `validation_error` unless it is a host under the domain, so that
 *  no organization can use a name of another domain. */
function trackingHost(text: string, domain: Domain): string {
  const host = toALabel(text.trim().replace(/\.$/, ''))
  const used = [domain.returnPathHost, mtaStsHost(domain.name)]
  if (host?.endsWith(`.${domain.name}`) && !used.includes(host)) return host
  const message = `tracking.host must be a host under ${domain.name}, and not ${used.join(' or ')}`
  throw invalid([{ field: 'tracking.host', message }])
}
