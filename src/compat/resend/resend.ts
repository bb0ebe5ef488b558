import type { ExternalApi } from '../external-api.ts'
import { apiKeyEndpoints } from './api-keys.ts'
import { domainEndpoints } from './domains.ts'
import { emailEndpoints } from './emails.ts'
import { refuse } from './errors.ts'
import { suppressionEndpoints } from './suppressions.ts'
import { webhookEndpoints } from './webhooks.ts'

/** What Resend's package calls, as far as it can be done as Resend does it: an application moves in by another base URL
 *  and another key. All else is 404 or 422 with words. Source: the types of the npm package resend 6.38.0. */
export const resend: ExternalApi = {
  name: 'resend',
  root: '/compat/resend',
  refuse,
  endpoints: [...emailEndpoints, ...domainEndpoints, ...apiKeyEndpoints, ...webhookEndpoints, ...suppressionEndpoints],
}
