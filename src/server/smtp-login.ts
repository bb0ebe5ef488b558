import type { SubmissionHandlerDeps } from '../receiving/smtp-submission/smtp-handler.ts'
import { SEND } from '../web/api/access.ts'
import { requireRight } from '../web/api/rights.ts'
import type { Api } from '../web/api/server.ts'

/** Logs in programs that submit mail by SMTP, with the rights that the key has for sending by HTTP. */
export function createSmtpLogin({ auth, makers }: Pick<Api, 'auth' | 'makers'>): SubmissionHandlerDeps['login'] {
  return async (password, now, address) => {
    const key = auth.authenticate(`Bearer ${password}`, now, () => address)
    requireRight({ key, maker: await makers.of(key) }, SEND)
    return key
  }
}
