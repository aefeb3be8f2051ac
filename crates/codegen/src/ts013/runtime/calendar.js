// The days of the Gregorian calendar from 1970-01-01 to the day, by integers; years begin in March.
function daysTo(year, month, day) {
  var y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) +
    Math.floor((153 * m + 2) / 5) + day - 719469;
}

function isDate(year, month, day) {
  return month >= 1 && month <= 12 && day >= 1 &&
    day <= daysTo(month === 12 ? year + 1 : year, month % 12 + 1, 1) - daysTo(year, month, 1);
}

// Year, month and day from the days since 1970-01-01.
function dateOf(days) {
  var d = days + 719468, era = Math.floor(d / 146097), y, m;
  d -= 146097 * era;
  y = Math.floor((d - Math.floor(d / 1460) + Math.floor(d / 36524) - Math.floor(d / 146096)) / 365);
  d -= 365 * y + Math.floor(y / 4) - Math.floor(y / 100);
  m = Math.floor((5 * d + 2) / 153);
  d -= Math.floor((153 * m + 2) / 5);
  return { Y: 400 * era + y + (m < 10 ? 0 : 1), M: m < 10 ? m + 3 : m - 9, D: d + 1 };
}
