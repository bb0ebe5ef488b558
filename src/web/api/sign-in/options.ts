import type { Page } from '../route-table.ts'
import { json, type SignInContext } from './context.ts'

/** `GET /session/options`: the ways to sign in, for the sign-in page, and whether users can ask for a link that sets their
 *  password. The same for everybody. */
export function optionsPage({ singleSignOn, userMail }: SignInContext): Page {
  const options = { single_sign_on: singleSignOn !== undefined, only_single_sign_on: singleSignOn?.only ?? false }
  return {
    method: 'GET',
    path: '/session/options',
    handle: () => json({ ...options, password_links: userMail.obstacle() === null }),
  }
}
