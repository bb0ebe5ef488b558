import type { Page } from '../route-table.ts'
import { json, type SignInContext } from './context.ts'

/** `GET /session/options`: the ways to sign in, for the sign-in page. The same for everybody. */
export function optionsPage(context: SignInContext): Page {
  const { singleSignOn } = context
  const options = { single_sign_on: singleSignOn !== undefined, only_single_sign_on: singleSignOn?.only ?? false }
  return {
    method: 'GET',
    path: '/session/options',
    handle: () => json({ ...options, password_links: sendsPasswordLinks(context) }),
  }
}

/** Whether users can ask for a link that sets their password: mail goes, and passwords count. */
export function sendsPasswordLinks({ userMail, singleSignOn }: SignInContext): boolean {
  return singleSignOn?.only !== true && userMail.obstacle() === null
}
