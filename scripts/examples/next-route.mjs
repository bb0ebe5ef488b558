import { unwrap, WebhookVerificationError } from 'postrider'

/** `app/hook/route.js` of a Next application. */
export async function POST(request) {
  try {
    const event = await unwrap(await request.arrayBuffer(), request.headers, process.env.WEBHOOK_SECRET)
    console.log(event.type)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return new Response(error.message, { status: 401 })
  }
}
