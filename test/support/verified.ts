import { NO_GRANTS } from '../../src/model/user.ts'

/** Fields of a user whose address is verified. */
export const VERIFIED = { emailVerifiedAt: 0, invitedTo: null, awaiting: NO_GRANTS }
