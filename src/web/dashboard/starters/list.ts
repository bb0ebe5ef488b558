/** The starter templates: alias, name, and what each is for. */
export const STARTER_LIST = [
  ['sign-in-code', 'Sign-in code', 'A code that a person types to sign in.'],
  ['welcome', 'Welcome', 'The first message to a new account, with the next steps.'],
  ['receipt', 'Receipt', 'Confirms a payment, with items and total.'],
  ['invoice', 'Invoice', 'Asks for a payment, with items, tax and due date.'],
  ['alert', 'Alert', 'Reports an event that needs attention, with its details.'],
  ['invitation', 'Invitation', 'Invites a person to a team or a project.'],
  ['password-reset', 'Password reset', 'A link that sets a new password.'],
  ['digest', 'Digest', 'Figures and news of a period.'],
] as const

export type StarterAlias = (typeof STARTER_LIST)[number][0]

/** Content of a starter template. */
export interface Starter {
  subject: string
  html: string
  text: string
  /** A value of each variable. */
  sample: Record<string, unknown>
}
