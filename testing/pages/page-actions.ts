import type { AppPage } from './app-site.ts'
import { pin as usualPin } from './page.ts'

type Tokens = { userToken: string; encryptionKey: string }

export const answers = ['Elm Street', 'Bruno'] as const

/** The steps of a user in the page that the app has opened, which may be another one each time. */
export function pageActions(opened: () => AppPage) {
  const screen = (name: string) =>
    opened().frame.locator(`#card[data-screen=${name}]:not([aria-busy=true])`).waitFor()
  const go = () => opened().frame.getByTestId('footer-main-btn').click()
  const type = async (digits: string, on: string) => {
    await screen(on)
    await opened().frame.locator('.digits input').first().click()
    await opened().page.keyboard.type(digits)
  }
  const choosePin = async (digits = usualPin, first = 'initPincode', second = 'confirmInitPincode') => {
    await type(digits, first)
    await type(digits, second)
  }
  /** Answers as public end-to-end tests of apps do. */
  const chooseQuestions = async () => {
    const { frame } = opened()
    await screen('securityIntros')
    await go()
    for (const [index, answer] of answers.entries()) {
      const section = frame.getByTestId('question-input-section').nth(index)
      await section.getByTestId('question-dropdown').locator('button').click()
      await frame.locator('ul[role=listbox] li').nth(index).click()
      await section.getByTestId('answer-text-input').fill(answer)
    }
    await go()
    await screen('securitySummary')
    await go()
    await screen('securityConfirm')
    await frame.locator("input:not([type='password'])").first().fill('I agree')
    await go()
  }
  /** Lets the client open a challenge. */
  const execute = ({ userToken, encryptionKey }: Tokens, challengeId: string) =>
    opened().run(
      `calls.length = 0
       sdk.setAuthentication({ userToken: input.userToken, encryptionKey: input.encryptionKey })
       sdk.execute(input.challengeId, note)`,
      { userToken, encryptionKey, challengeId },
    )
  return { screen, go, type, choosePin, chooseQuestions, execute }
}
