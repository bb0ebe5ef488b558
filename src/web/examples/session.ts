/** Origin of the server → name of the cookie of a dashboard session (web/api/sessions.ts). */
export function sessionCookie(origin: string): string {
  return origin.startsWith('https:') ? '__Host-postrider_session' : 'postrider_session'
}
