import { invitation, passwordReset, signInCode, welcome } from './access.ts'
import { alert, digest, invoice, receipt } from './business.ts'
import { STARTER_LIST, type Starter, type StarterAlias } from './list.ts'

/** Starter templates. The dashboard offers them for new templates; `/dashboard/starter-templates/<alias>.json` is the body
 *  of a request that creates one. */

const CONTENTS: Record<StarterAlias, Starter> = {
  'sign-in-code': signInCode,
  welcome,
  receipt,
  invoice,
  alert,
  invitation,
  'password-reset': passwordReset,
  digest,
}

/** Each starter as the body of `POST /v1/templates`. */
export const STARTERS = STARTER_LIST.map(([alias, name]) => ({ name, alias, ...CONTENTS[alias] }))
