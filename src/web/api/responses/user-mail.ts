import { z } from 'zod'
import { MAIL_OBSTACLES, type MailObstacle } from '../../../sending/submission/user-mail.ts'

/** Fields of a response that creates a link for a user: whether the server also sends it. */
export const mailFields = {
  mail_queued: z.boolean().describe('True if the server sends the link by mail.'),
  mail_reason: z
    .enum(MAIL_OBSTACLES)
    .nullable()
    .describe('Why no mail is sent, so that you, or an operator, passes on the link; null if it is sent.'),
}

/** The same fields of a response. */
export const mailRecord = (obstacle: MailObstacle | null) => ({ mail_queued: obstacle === null, mail_reason: obstacle })
