import { freshId, icon, make, visible } from '../dom.js'
import { postError } from '../parent.js'
import { errorLine, mainButton, show } from '../shell.js'
import { headline, own, ownHeadline, questions as ownQuestions, say, securityItems, tame } from '../texts.js'
import { appItems, appWords } from '../words.js'
import { combobox } from './combobox.js'
import { back } from './pin.js'

/** Longest question with its hint, as the server stores it. */
const questionMax = 200
const hintMax = 60
const answerMax = 120

const sameAsAnswer = {
  code: 155705,
  message: 'A hint must not contain its answer: everybody who opens the recovery sees it.',
}

/** The questions to choose from, and how many of them: those of the app, if it has any that fit. */
export function questionsOf(custom) {
  const { questions, requiredCount } = typeof custom === 'object' && custom !== null ? custom : {}
  const fit = (Array.isArray(questions) ? questions : [])
    .filter((each) => typeof each?.question === 'string' && each.question.length < questionMax - hintMax)
    .map(({ question, type }) => ({
      question: tame(question, questionMax - hintMax),
      type: type === 'DATE' || type === 0 ? 'DATE' : 'TEXT',
    }))
    .filter(({ question }) => question)
  const choice = fit.length > 0 ? fit.slice(0, 50) : ownQuestions
  const count = Number.isInteger(requiredCount) && requiredCount > 0 ? requiredCount : 2
  return { choice, count: Math.min(count, 10, new Set(choice.map(({ question }) => question)).size) }
}

/** The question and its hint are one text for the server. */
export const storedQuestion = ({ question, hint }) => (hint ? `${question}\n${hint}` : question)
const readQuestion = (stored) => {
  const [question, ...hint] = stored.split('\n')
  return { question, hint: hint.join(' ').trim() }
}

export function introduceQuestions({ learnMoreUrl, onBack }) {
  return new Promise((resolve) => {
    show({
      name: 'securityIntros',
      isOwn: true,
      title: ownHeadline('securityIntros'),
      lead: own('securityIntros', 'description'),
      art: icon('shield'),
      body: [
        appWords({
          texts: ['headline', 'headline2', 'description'].map((name) => ['securityIntros', name]),
          image: 'securityIntroMain',
          link: learnMore(learnMoreUrl),
        }),
      ],
      foot: [mainButton(own('common', 'continue'), () => resolve())],
      onBack: onBack && (() => resolve(back)),
    })
  })
}

/** A link of the app, with the host that it leads to. */
function learnMore(url) {
  if (typeof url !== 'string' || !/^https:\/\//.test(url) || !URL.canParse(url)) return undefined
  return make('a', {
    href: url,
    target: '_blank',
    rel: 'noopener noreferrer',
    className: 'plain',
    dir: 'auto',
    textContent: `${say('securityIntros', 'link')} (${new URL(url).host})`,
  })
}

/** Asks for `count` questions with answers. `kept` has those of an earlier visit, which it fills. */
export function askQuestions({ choice, count, kept }) {
  return new Promise((resolve) => {
    const line = errorLine()
    const submit = () => {
      const problem = problemOf(kept)
      if (!problem) return resolve(kept)
      if (problem.code) postError(problem)
      line.show(problem.message)
    }
    const main = mainButton(say('common', 'continue'), submit, { disabled: true })
    const refresh = () => {
      line.show('')
      main.disabled = !kept.every(({ question, answer }) => question && answer.trim())
    }
    const sections = kept
      .slice(0, count)
      .map((entry, index) => section({ entry, index, choice, kept, refresh, submit, main }))
    show({
      name: 'securityQuestions',
      title: say('securityQuestions', 'title'),
      body: [...sections, line],
      foot: [main],
      onBack: () => resolve(back),
    })
    refresh()
  })
}

const plain = (text) => text.normalize('NFKC').trim().toLowerCase()

function problemOf(entries) {
  const reveals = ({ hint, answer }) =>
    hint &&
    (plain(hint) === plain(answer) || (plain(answer).length > 2 && plain(hint).includes(plain(answer))))
  return entries.some(reveals) ? sameAsAnswer : undefined
}

function section({ entry, index, choice, kept, refresh, submit, main }) {
  const typeOf = (question) => choice.find((each) => each.question === question)?.type
  const name = `${say('securityQuestions', 'questionHeader')} ${index + 1}`
  const answer = field({
    label: say('securityQuestions', 'answerHeader'),
    placeholder: say('securityQuestions', 'answerPlaceholder'),
    isRequired: true,
    value: entry.answer,
    maxLength: answerMax,
    testId: 'answer-text-input',
    onInput: (text) => {
      entry.answer = text
      refresh()
    },
  })
  const hint = field({
    label: say('securityQuestions', 'answerHintHeader'),
    placeholder: say('securityQuestions', 'answerHintPlaceholder'),
    value: entry.hint,
    maxLength: hintMax,
    onInput: (text) => {
      entry.hint = text
      refresh()
    },
  })
  const setUp = () => {
    answer.input.disabled = hint.input.disabled = !entry.question
    answer.input.type = typeOf(entry.question) === 'DATE' ? 'date' : 'text'
  }
  for (const { input } of [answer, hint])
    input.onkeydown = ({ key }) => key === 'Enter' && !main.disabled && submit()
  const dropdown = combobox({
    label: name,
    placeholder: say('securityQuestions', 'questionPlaceholder'),
    chosen: entry.question || undefined,
    optionsOf: () => {
      const taken = kept.filter((other) => other !== entry).map(({ question }) => question)
      return [...new Set(choice.map(({ question }) => question))].filter(
        (question) => !taken.includes(question),
      )
    },
    onChoose: (question) => {
      if (typeOf(question) !== typeOf(entry.question)) entry.answer = answer.input.value = ''
      entry.question = question
      setUp()
      refresh()
      answer.input.focus()
    },
  })
  setUp()
  return make(
    'section',
    { className: 'question', attributes: { 'data-testid': 'question-input-section', 'aria-label': name } },
    make('p', { className: 'label', attributes: { 'aria-hidden': 'true' } }, name, required()),
    dropdown,
    answer.row,
    hint.row,
  )
}

const required = () =>
  make('span', { className: 'required', textContent: ` ${say('securityQuestions', 'requiredMark')}` })

/** A labelled field. Answers are no passwords to keep, so browsers are asked not to. */
function field({ label, placeholder, isRequired, value, maxLength, testId, onInput, type = 'text' }) {
  const id = freshId('field')
  const input = make('input', {
    id,
    type,
    value,
    placeholder,
    maxLength,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    required: Boolean(isRequired),
    oninput: () => onInput(input.value),
    attributes: { 'data-1p-ignore': '', 'data-lpignore': 'true', ...(testId && { 'data-testid': testId }) },
  })
  const row = make(
    'div',
    { className: 'field' },
    make('label', { htmlFor: id }, label, isRequired ? required() : undefined),
    input,
  )
  return { row, input }
}

export function reviewAnswers(entries) {
  return new Promise((resolve) => {
    const rows = entries.map(({ question, answer, hint }, index) =>
      make(
        'div',
        { className: 'answered' },
        make('dt', { textContent: `${say('securitySummary', 'question')} ${index + 1}: ${question}` }),
        make('dd', { textContent: visible(answer) }),
        hint ? make('dd', { className: 'hint', textContent: visible(hint) }) : undefined,
      ),
    )
    show({
      name: 'securitySummary',
      title: say('securitySummary', 'title'),
      body: [make('dl', { className: 'summary' }, ...rows)],
      foot: [mainButton(say('common', 'continue'), () => resolve())],
      onBack: () => resolve(back),
    })
  })
}

/** Lets the user type a phrase in agreement with what loss means. The items of an app stand beside those of the page. */
export function agree({ items, error }) {
  return new Promise((resolve) => {
    const phrase = say('securityConfirm', 'inputMatch')
    const added = appItems(items)
    const line = errorLine()
    const main = mainButton(own('common', 'continue'), () => resolve(), { disabled: true })
    const { row, input } = field({
      label: make(
        'span',
        {},
        'Type ',
        make('q', { className: 'phrase', textContent: phrase }),
        ' to proceed',
      ),
      placeholder: 'The words above',
      value: '',
      maxLength: 200,
      onInput: (text) => {
        main.disabled = plain(text) !== plain(phrase)
      },
    })
    input.onkeydown = ({ key }) => key === 'Enter' && main.click()
    show({
      name: 'securityConfirm',
      isOwn: true,
      title: own('securityConfirm', 'title'),
      lead: own('securityConfirm', 'headline'),
      art: icon('key'),
      body: [
        make('ul', { className: 'items' }, ...securityItems.map((text) => make('li', { textContent: text }))),
        row,
        line,
        appWords({
          texts: ['title', 'headline', 'inputHeadline', 'inputPlaceholder'].map((name) => [
            'securityConfirm',
            name,
          ]),
          items: added,
          image: 'securityConfirmMain',
        }),
      ],
      foot: [main],
      onBack: () => resolve(back),
    })
    line.show(error)
  })
}

/** Asks for the answers that recover a PIN, in the order of the questions. */
export function askAnswers({ stored, error }) {
  return new Promise((resolve) => {
    const line = errorLine()
    const entries = stored.map(readQuestion)
    const answers = entries.map(() => '')
    const main = mainButton(say('common', 'continue'), () => resolve(answers), { disabled: true })
    const rows = entries.map(({ question, hint }, index) => {
      const { row, input } = field({
        label: say('recoverPincode', 'answerInputHeader'),
        placeholder: say('recoverPincode', 'answerInputPlaceholder'),
        isRequired: true,
        value: '',
        maxLength: answerMax,
        testId: 'answer-text-input',
        onInput: (text) => {
          answers[index] = text
          line.show('')
          main.disabled = !answers.every((answer) => answer.trim())
        },
      })
      input.onkeydown = ({ key }) => key === 'Enter' && main.click()
      return make(
        'section',
        {
          className: 'question',
          attributes: { 'data-testid': 'question-input-section', 'aria-label': visible(question) },
        },
        make('p', { className: 'asked', textContent: visible(question) }),
        hint
          ? make(
              'p',
              { className: 'hint' },
              make('span', { className: 'tag', textContent: 'Hint' }),
              visible(hint),
            )
          : undefined,
        row,
      )
    })
    show({
      name: 'recoverPincode',
      title: headline('recoverPincode'),
      lead: say('recoverPincode', 'subhead'),
      body: [...rows, line],
      foot: [main],
    })
    line.show(error)
  })
}
