import type { Page } from '../route-table.ts'
import { codePage } from './code.ts'
import { createSignInContext, type SignInDeps } from './context.ts'
import { forgotPage } from './forgot.ts'
import { invitationPages } from './invitation.ts'
import { optionsPage } from './options.ts'
import { ownFactorsPage } from './own-factors.ts'
import { ownSessionPages } from './own-sessions.ts'
import { passkeyPages } from './passkeys.ts'
import { passwordPages } from './password.ts'
import { signInPage } from './sign-in.ts'
import { singleSignOnPages } from './single-sign-on/pages.ts'
import { createProvider } from './single-sign-on/provider.ts'
import { twoStepPages } from './two-step.ts'

/** The pages under `/session`, with which the dashboard signs in, reads the session, changes what the user signs in with,
 *  and signs out. Every way of signing in ends with openSession (open-session.ts). */
export function sessionPages(deps: SignInDeps): Page[] {
  const context = createSignInContext(deps)
  const { singleSignOn } = deps
  const pages = [
    signInPage(context),
    codePage(context),
    optionsPage(context),
    ...passkeyPages(context),
    ...ownSessionPages(context),
    ownFactorsPage(context),
    ...twoStepPages(context),
    ...passwordPages(context),
    forgotPage(context),
    ...invitationPages(context),
  ]
  if (singleSignOn === undefined) return pages
  const provider = createProvider(singleSignOn, deps.clock.steady.now)
  return [...pages, ...singleSignOnPages(context, singleSignOn, provider)]
}
