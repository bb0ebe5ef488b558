import type { ExternalApi } from '../external-api.ts'
import { apiKeyEndpoints } from './api-keys.ts'
import { domainEndpoints } from './domains.ts'
import { emailEndpoints } from './emails.ts'
import { refuse } from './errors.ts'
import { receivedEndpoints } from './received.ts'
import { suppressionEndpoints } from './suppressions.ts'
import { webhookEndpoints } from './webhooks.ts'

/** The endpoints that Resend's package calls, as far as Postrider supports them: an application switches by changing
 *  its base URL and key. Other requests get 404 or 422 with an explanation. Source: the types of the npm package
 *  resend 6.38.0. */
export const resend: ExternalApi = {
  name: 'resend',
  root: '/compat/resend',
  refuse,
  endpoints: [
    ...receivedEndpoints,
    ...emailEndpoints,
    ...domainEndpoints,
    ...apiKeyEndpoints,
    ...webhookEndpoints,
    ...suppressionEndpoints,
  ],
}
