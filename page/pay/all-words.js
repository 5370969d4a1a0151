import de from './languages/de.js'
import en from './languages/en.js'
import es from './languages/es.js'
import fr from './languages/fr.js'
import ja from './languages/ja.js'
import pt from './languages/pt.js'

/** The words of every language, for the server: a browser loads those of its page alone. */
export const allWords = { en, de, es, fr, pt, ja }
