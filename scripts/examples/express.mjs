import express from 'express'
import { unwrap, WebhookVerificationError } from 'postrider'

const app = express()

// raw, and before any express.json(): the signature covers the exact bytes
app.post('/hook', express.raw({ type: '*/*', limit: '40mb' }), async (request, response) => {
  try {
    const event = await unwrap(request.body, request.headers, process.env.WEBHOOK_SECRET)
    console.log(event.type)
    response.sendStatus(204)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.status(401).send(error.message)
  }
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`waiting on port ${server.address().port}`)
})
