import { randomBytes, randomUUID } from 'node:crypto'
import type { Page, Route } from 'playwright-core'
import type { AppPage } from './app-site.ts'

/** A challenge as the page reads it; tests of screens answer with it in place of the server. */
export type ShownChallenge = {
  type: string
  needs: string | null
  status?: string
  user?: object
  details?: { name: string; label: string; value: string }[]
  warnings?: { name: string; text: string }[]
  result?: object
}

const stateOf = (shown: ShownChallenge, id: string) => ({
  challenge: { id, type: shown.type, status: shown.status ?? 'PENDING', expireDate: '2030-01-01T00:00:00Z' },
  user: {
    id: randomUUID(),
    pinStatus: 'ENABLED',
    securityQuestionStatus: 'ENABLED',
    questions: [],
    ...shown.user,
  },
  needs: shown.needs,
  summary: { details: shown.details ?? [], warnings: shown.warnings ?? [] },
  ...(shown.result && { result: shown.result }),
})

/** Answers what the page asks for: the challenge, and each approval by the next of `answers`. */
export async function answerWith(
  page: Page,
  shown: ShownChallenge,
  answers: readonly (ShownChallenge | { code: number; message: string })[] = [],
): Promise<{ posted: object[] }> {
  const posted: object[] = []
  await page.unroute('**/page/challenges/**')
  await page.route('**/page/challenges/**', async (route: Route) => {
    if (route.request().method() === 'GET') return route.fulfill({ json: { data: stateOf(shown, 'c') } })
    posted.push(route.request().postDataJSON())
    const answer = answers[posted.length - 1] ??
      answers.at(-1) ?? { ...shown, needs: null, status: 'COMPLETE' }
    if ('code' in answer) return route.fulfill({ status: 400, json: answer })
    return route.fulfill({ json: { data: stateOf(answer, 'c') } })
  })
  return { posted }
}

/** Lets the client execute a challenge that the fixture answers. */
export const execute = ({ run }: AppPage) =>
  run(
    `sdk.setAuthentication({ userToken: 'token', encryptionKey: input })
     sdk.execute('11111111-1111-4111-8111-111111111111', note)`,
    randomBytes(32).toString('base64'),
  )

export const transfer: ShownChallenge = {
  type: 'CREATE_TRANSACTION',
  needs: 'open',
  details: [
    { name: 'amount', label: 'Amount', value: '1250.5 USDC' },
    { name: 'token', label: 'Token', value: 'USD Coin' },
    { name: 'to', label: 'To', value: '0x9f8E7b1C2d3A4f5B6c7D8e9F0a1B2c3D4e5F6a7B' },
    { name: 'wallet', label: 'From', value: '0x1a2B3c4D5e6F7a8B9c0D1e2F3a4B5c6D7e8F9a0B' },
    { name: 'blockchain', label: 'Blockchain', value: 'BASE-SEPOLIA' },
    { name: 'feeLevel', label: 'Network fee', value: 'MEDIUM' },
  ],
}

export const wrongPin = { code: 155112, message: 'The PIN is wrong. 3 more tries before it is locked.' }
export const lockedPin = { code: 155119, message: 'The PIN is locked until 2099-11-25T18:30:00.000Z.' }

export const onScreen = (app: AppPage, name: string) =>
  app.frame.locator(`#card[data-screen=${name}]`).waitFor()

/** Presses the main button of the screen. */
export const go = (app: AppPage) => app.frame.getByTestId('footer-main-btn').click()

export async function typeDigits(app: AppPage, digits: string): Promise<void> {
  await app.frame.locator('.digits input').first().click()
  await app.page.keyboard.type(digits)
}
