/** Password → a hash that verifyPassword checks at once: the cost of a check is part of the hash, and that of the server
 *  takes 30 ms. */
export const cheapHash = (password: string) =>
  Bun.password.hash(password, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
